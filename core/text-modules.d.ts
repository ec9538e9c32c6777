/** Scripts in other languages are imported as text: esbuild's text loader in the bundle, test/text-loader.mjs in tests. */
declare module '*.sh' {
  const text: string;
  export default text;
}
declare module '*.py' {
  const text: string;
  export default text;
}
