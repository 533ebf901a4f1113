import type { Config } from '../config/config.ts';
import { unusableSetting } from './startup-errors.ts';

export interface Upstream {
  url: URL;
  /** For the banner. A live service is checked first, for two seconds at most. */
  description: Promise<string>;
  /** An access token of the sandbox; undefined for a live service. */
  bearer: string | undefined;
  close(): Promise<void>;
}

/** The live service of UPSTREAM_URL, or a new sandbox. @throws ConfigError if SANDBOX_FILE cannot be used */
export async function openUpstream(config: Config): Promise<Upstream> {
  if (config.upstreamUrl !== undefined) {
    const url = config.upstreamUrl;
    return { url, description: describeService(url, config), bearer: undefined, close: async () => {} };
  }
  // Imported here, because a server in front of a live service does not need the sandbox.
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const file = config.sandboxFile;
  const sandbox = await startSandbox(file === undefined ? {} : { file }).catch((error: unknown) => {
    throw file === undefined
      ? error
      : unusableSetting(`SANDBOX_FILE: the embedded sandbox cannot use ${file}`, error);
  });
  return {
    url: new URL(sandbox.url),
    description: Promise.resolve(`the embedded sandbox at ${sandbox.url}`),
    bearer: sandbox.tokens.first,
    close: () => sandbox.close(),
  };
}

/** Says whether the service answers. The server starts in either case, because REST may start later. */
async function describeService(url: URL, { proxy }: Config): Promise<string> {
  const { describeRest } = await import('../rest/health-probe.ts');
  return `the live service at ${url.href} (${await describeRest({ baseUrl: url, proxy })})`;
}
