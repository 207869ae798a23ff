// Finding the node under the pointer: nodes in the cells of a grid. Nodes
// outside the grid are in its border cells, so that a few far ones do not make
// all other cells too coarse.

class NodeGrid {
  constructor(nodes, extent) {
    this.nodes = nodes;
    this.extent = extent;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(nodes.n / 2))));
    const start = new Uint32Array(this.side * this.side + 1);
    const cell = new Uint32Array(nodes.n);
    for (let i = 0; i < nodes.n; i++) {
      cell[i] = this.row(nodes.y[i]) * this.side + this.column(nodes.x[i]);
      start[cell[i] + 1]++;
    }
    for (let i = 0; i < this.side * this.side; i++) start[i + 1] += start[i];
    const next = start.slice();
    const members = new Uint32Array(nodes.n);
    for (let i = 0; i < nodes.n; i++) members[next[cell[i]]++] = i;
    this.start = start;
    this.members = members;
  }

  column(x) {
    const { left, right } = this.extent;
    const at = Math.floor(((x - left) / (right - left)) * this.side);
    return Math.max(0, Math.min(this.side - 1, at || 0));
  }

  row(y) {
    const { bottom, top } = this.extent;
    const at = Math.floor(((y - bottom) / (top - bottom)) * this.side);
    return Math.max(0, Math.min(this.side - 1, at || 0));
  }

  /** The nearest node within `radius`, or -1; the later of two that are drawn at the same place. */
  nearest(x, y, radius) {
    const { nodes } = this;
    let best = -1;
    let least = radius * radius;
    const lastRow = this.row(y + radius);
    const lastColumn = this.column(x + radius);
    for (let row = this.row(y - radius); row <= lastRow; row++) {
      for (let column = this.column(x - radius); column <= lastColumn; column++) {
        const cell = row * this.side + column;
        for (let at = this.start[cell]; at < this.start[cell + 1]; at++) {
          const node = this.members[at];
          const dx = nodes.x[node] - x;
          const dy = nodes.y[node] - y;
          const distance = dx * dx + dy * dy;
          if (distance <= least) {
            least = distance;
            best = node;
          }
        }
      }
    }
    return best;
  }
}
