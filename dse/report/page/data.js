// SPDX-License-Identifier: Apache-2.0
// Reads back what compact_json.cpp and layer_details.cpp wrote.

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** One row for each design and workload; columns by name. */
class Designs {
  constructor(json) {
    this.rows = json.rows; // with those of all workloads together
    this.stored = json.rows;
    this.columns = new Map();
    this.infos = new Map();
    this.known = new Map(); // what distinct() found
    for (const { name, values, codes, unit, meaning } of json.columns) {
      this.columns.set(name, codes ? codes.map((code) => values[code]) : values);
      this.infos.set(name, { unit, meaning });
    }
  }
  has(name) {
    return this.columns.has(name);
  }
  get(name, row) {
    const column = this.columns.get(name);
    return column ? column[row] : null;
  }
  /** Different values in the order of the rows, numbers ascending. */
  distinct(name) {
    if (!this.known.has(name)) {
      const values = [...new Set(this.columns.get(name) ?? [])].filter((v) => v !== null);
      this.known.set(name, values.every((v) => typeof v === "number") ? values.sort((a, b) => a - b) : values);
    }
    return [...this.known.get(name)];
  }
}

/** Layers, mappings and costs of the designs that came along. */
class Details {
  constructor(json) {
    this.json = json;
  }
  text(index) {
    return this.json.strings[index];
  }
  has(row) {
    return row in this.json.rows;
  }
  loops(list) {
    return list.map(([dim, bound]) => ({ dim: this.text(dim), bound }));
  }
  layersOf(row) {
    return (this.json.rows[row] ?? []).map(([layer, task, reason]) => {
      const [, name, count, macs, dims] = this.json.layers[layer];
      const one = {
        name: this.text(name),
        count,
        macs,
        dims: this.loops(dims),
        reason: reason === undefined ? "" : this.text(reason),
      };
      return task < 0 ? one : { ...one, ...this.task(task) };
    });
  }
  task(index) {
    const [
      energy,
      cycles,
      compute,
      utilization,
      bound,
      lower,
      value,
      gap,
      certified,
      covered,
      ended,
      mapping,
      memories,
    ] = this.json.tasks[index];
    return {
      solved: true,
      energy,
      cycles,
      compute,
      utilization,
      boundBy: this.text(bound),
      lower,
      value,
      gap,
      certified,
      covered: this.text(covered),
      ended: this.text(ended),
      mapping: mapping.map(([level, temporal, rows, cols, keeps, padded]) => ({
        level: this.text(level),
        temporal: this.loops(temporal),
        rows: this.loops(rows),
        cols: this.loops(cols),
        keeps: keeps.map((k) => this.text(k)),
        padded: this.loops(padded),
      })),
      memories: memories.map(
        ([level, instances, capacity, used, readCycles, writeCycles, busCycles, leakage, tensors]) => ({
          level: this.text(level),
          instances,
          capacity,
          used,
          readCycles,
          writeCycles,
          busCycles,
          leakage,
          tensors: tensors.map(([tensor, read, written, pj]) => ({
            tensor: this.text(tensor),
            read,
            written,
            energy: pj,
          })),
        }),
      ),
    };
  }
}
