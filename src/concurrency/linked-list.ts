/** A node of at most one list. The node itself holds the links, so the list allocates nothing per node. */
export interface ListNode<Node> {
  before: Node | undefined;
  after: Node | undefined;
}

/** A doubly linked queue. Any node can be removed in constant time. */
export class LinkedList<Node extends ListNode<Node>> {
  first: Node | undefined;
  #last: Node | undefined;

  /** Appends a node that is in no list. */
  add(node: Node): void {
    node.before = this.#last;
    if (this.#last === undefined) this.first = node;
    else this.#last.after = node;
    this.#last = node;
  }

  /** Removes a node of this list. */
  remove(node: Node): void {
    const { before, after } = node;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    // A removed node must not keep its old neighbours alive until a full garbage collection.
    node.before = undefined;
    node.after = undefined;
  }
}
