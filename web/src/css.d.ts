// esbuild bundles style sheets that are imported.
declare module "*.css";
