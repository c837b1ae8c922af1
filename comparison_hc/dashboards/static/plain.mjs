// Where a dashboard begins that has nothing of its own to add.
import {show} from "./page.mjs";

export function start(root, connect, spec) {
  show(root, connect, spec);
}
