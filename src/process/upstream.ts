import type { Config } from '../config/config.ts';
import { unusableSetting } from './startup-errors.ts';

/** The REST service that the server speaks to. */
export interface Upstream {
  url: URL;
  /** For the banner. */
  description: string;
  /** A token to try the server with; undefined where the service is a live one. */
  bearer: string | undefined;
  close(): Promise<void>;
}

/** The service that the settings name, or the embedded sandbox, which starts then. @throws ConfigError for its file. */
export async function openUpstream(config: Config): Promise<Upstream> {
  if (config.upstreamUrl !== undefined) {
    const description = `the live service at ${config.upstreamUrl.href}`;
    return { url: config.upstreamUrl, description, bearer: undefined, close: async () => {} };
  }
  // Loaded only where it is used, so that a server before a live service does without it.
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const file = config.sandboxFile;
  const sandbox = await startSandbox(file === undefined ? {} : { file }).catch((error: unknown) => {
    throw file === undefined
      ? error
      : unusableSetting(`SANDBOX_FILE: expected the sandbox's file, but got ${file}`, error);
  });
  return {
    url: new URL(sandbox.url),
    description: `the embedded sandbox at ${sandbox.url}`,
    bearer: sandbox.tokens.first,
    close: () => sandbox.close(),
  };
}
