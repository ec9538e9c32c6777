/** Set by scripts/build.mjs from package.json; absent where sources run unbuilt (tests). */
declare const WATERTIGHT_VERSION: string | undefined;

/** Version of this program. */
export const version = typeof WATERTIGHT_VERSION === 'string' ? WATERTIGHT_VERSION : '0.0.0-unbuilt';
