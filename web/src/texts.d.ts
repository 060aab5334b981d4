/** Files that the build puts in as text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
/** The worker's code, bundled by itself. */
declare module "worker:*" {
  const code: string;
  export default code;
}
