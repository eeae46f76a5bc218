import ts from 'typescript';

/**
 * The top-level declaration that contains a position of a source, with the member if it is a class, for example
 * `Router.node`. Undefined outside declarations.
 */
export function enclosingSymbol(source: string, position: number): string | undefined {
  const file = parsed(source);
  const contains = (node: ts.Node) => node.getStart() <= position && position < node.end;
  const statement = file.statements.find(contains);
  if (statement === undefined) return undefined;
  if (ts.isVariableStatement(statement)) {
    const { declarations } = statement.declarationList;
    return (declarations.find(contains) ?? declarations[0])?.name.getText();
  }
  if (ts.isClassDeclaration(statement)) {
    const member = statement.members.find(contains);
    const name = member && ts.isConstructorDeclaration(member) ? 'constructor' : member?.name?.getText();
    return [statement.name?.text, name].filter((part) => part !== undefined).join('.');
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement);
  return isNamed ? statement.name?.text : undefined;
}

const known = new Map<string, ts.SourceFile>();

/** Many rules are broken in the same file. */
function parsed(source: string): ts.SourceFile {
  const file = known.get(source) ?? ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  known.set(source, file);
  return file;
}
