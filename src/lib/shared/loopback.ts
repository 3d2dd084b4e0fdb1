/** Which addresses mean this very machine. */

const LOOPBACK = /^(localhost|127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}|::1)$/i;

/** 127.0.0.0/8, `::1` and `localhost`; any other way to write them counts as an address that others can reach. */
export function isLoopback(host: string): boolean {
	return LOOPBACK.test(host.replace(/^\[(.*)\]$/, '$1'));
}
