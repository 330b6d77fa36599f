// Whether the page is being printed: then all that is folded is opened, and charts are drawn for
// paper.

import { createContext } from "preact";

export const Printing = createContext(false);
