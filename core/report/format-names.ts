/** What `--format` takes. Apart from the formats themselves, so that `--help` need not load them. */
export const FORMAT_NAMES = ['human', 'tap', 'junit', 'json', 'ndjson'] as const;

export type Format = (typeof FORMAT_NAMES)[number];
