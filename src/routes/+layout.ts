/** Pages run in the browser; the server serves the API and one empty shell. */
export const ssr = false;
