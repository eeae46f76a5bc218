/** An image of a registry, as a Dockerfile or compose file names it. */
export interface Image {
  /** With its tag. */
  readonly name: string;
  /** `sha256:…`; undefined: the tag decides, and whoever controls the registry can change what it names. */
  readonly digest: string | undefined;
}

const reference = /((?:^|\n)\s*(?:image:|FROM|# syntax=)\s*)([\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?(?=\s|$)/g;
/** Tag of images that are built here. */
const isLocal = (name: string): boolean => name.endsWith(':local');

/** The images that a Dockerfile or compose file takes from registries. */
export function imagesOf(text: string): readonly Image[] {
  return [...text.matchAll(reference)]
    .map(([, , name = '', digest]) => ({ name, digest }))
    .filter(({ name }) => !isLocal(name));
}

/** The text with each image of a registry pinned by its digest. */
export function pinned(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(reference, (whole, before: string, name: string) => {
    const digest = digests.get(name);
    return digest === undefined ? whole : `${before}${name}@${digest}`;
  });
}
