import {
  type ASTNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type SelectionNode,
  visit,
} from 'graphql';

/** The values of the variables in @skip and @include, by name. */
export type ConditionValues = ReadonlyMap<string, boolean>;

/** The names of the variables in the @skip and @include of a document, each once. */
export function conditionVariablesOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(directive) {
      const condition = conditionOf(directive);
      if (condition?.kind === 'Variable') names.add(condition.name.value);
    },
  });
  return [...names];
}

/**
 * A copy of a definition without @skip and @include, and without the selections that they leave out. A valid query
 * has no other directives. Each field is a new node, because resolvers cache by field node what a field selects.
 */
export function withoutConditions<Definition extends DefinitionNode>(
  definition: Definition,
  values: ConditionValues,
): Definition {
  const select = <Selection extends SelectionNode>(selection: Selection): Selection | null => {
    const isSelected = (selection.directives ?? []).every((directive) => includes(directive, values));
    return isSelected ? { ...selection, directives: [] } : null;
  };
  return visit<Definition>(definition, {
    Field: { enter: select },
    FragmentSpread: { enter: select },
    InlineFragment: { enter: select },
  });
}

/** Whether a directive leaves its selection in. */
function includes(directive: DirectiveNode, values: ConditionValues): boolean {
  const condition = conditionOf(directive);
  const isTrue =
    condition?.kind === 'Variable'
      ? values.get(condition.name.value)
      : condition?.kind === 'BooleanValue' && condition.value;
  return directive.name.value === 'skip' ? isTrue !== true : isTrue === true;
}

function conditionOf({ arguments: args = [] }: DirectiveNode): ASTNode | undefined {
  return args.find(({ name }) => name.value === 'if')?.value;
}
