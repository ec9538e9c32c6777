import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** One import of one file: static, dynamic, re-export or of a type. */
export interface Import {
  readonly from: string;
  /** Path of a file of the tree, or the name of a package or of a module of Node's. */
  readonly to: string;
  /** Whether it is there only for the compiler. */
  readonly typeOnly: boolean;
}

/** Every source file below a folder, as paths from the root. */
export function sourcesBelow(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesBelow(root, path);
    return /\.m?[jt]s$/.test(entry.name) ? [path] : [];
  });
}

/** Every import of a file, as the compiler reads it. */
export function importsOf(root: string, from: string): readonly Import[] {
  const source = ts.createSourceFile(from, readFileSync(join(root, from), 'utf8'), ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const named = namedBy(node);
    if (named !== null) found.push({ from, to: resolve(from, named.specifier), typeOnly: named.typeOnly });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function namedBy(node: ts.Node): { readonly specifier: string; readonly typeOnly: boolean } | null {
  if (ts.isImportDeclaration(node)) return said(node.moduleSpecifier, isTypeOnly(node.importClause));
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) return said(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return said(node.arguments[0], false);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return said(node.argument.literal, true);
  return null;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

function said(specifier: ts.Node | undefined, typeOnly: boolean) {
  if (specifier !== undefined && ts.isStringLiteralLike(specifier)) return { specifier: specifier.text, typeOnly };
  // What is computed at run time escapes every table.
  throw new Error(`an import that is not a literal: ${specifier?.getText()}`);
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(from, '..', specifier).replace(/\.js$/, '.ts');
  if (specifier.startsWith('node:')) return specifier;
  const [scope = '', name = ''] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
