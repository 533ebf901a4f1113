import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The part of esbuild that this file uses. The packages of this folder are installed after the types are checked. */
interface Esbuild {
  build(options: object): Promise<unknown>;
}

interface Build {
  onLoad(
    options: { filter: RegExp },
    load: (args: { path: string }) => { contents: string; loader: 'tsx' } | undefined,
  ): void;
}

/** As babel-plugin-relay does it: a tagged text becomes the file that the compiler has written for it. */
const relayTags = {
  name: 'relay-tags',
  setup(build: Build) {
    build.onLoad({ filter: /relay-\w+\.tsx$/ }, ({ path }) => {
      const imports: string[] = [];
      const text = readFileSync(path, 'utf8').replace(
        /graphql`\s*(?:query|mutation|subscription|fragment) (\w+)[^`]*`/g,
        (_tag, name) => {
          imports.push(`import ${name} from './__generated__/${name}.graphql';`);
          return name;
        },
      );
      return { contents: `${imports.join('\n')}\n${text}`, loader: 'tsx' };
    });
  },
};

/** Bundles the app for Node. @returns the path of the file */
export async function bundle(app: string, entry: string, name: string): Promise<string> {
  const esbuild: Esbuild = createRequire(import.meta.url)('esbuild');
  const outfile = join(app, name);
  await esbuild.build({
    absWorkingDir: app,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    jsx: 'automatic',
    plugins: [relayTags],
    logLevel: 'error',
  });
  return outfile;
}
