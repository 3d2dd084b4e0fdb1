/** Headers of every response, whoever makes it; a response's own header of the same name is kept. */

/**
 * Pages and workspace files bring a policy of their own; the one here is for what should never be looked at as a page.
 * `publicOrigin` decides on HSTS: a name that is also served without TLS must not be locked out.
 */
export function securityHeaders(publicOrigin: string | null): [name: string, value: string][] {
	return [
		['x-content-type-options', 'nosniff'],
		['referrer-policy', 'no-referrer'],
		['x-frame-options', 'DENY'],
		['cross-origin-opener-policy', 'same-origin'],
		['cross-origin-resource-policy', 'same-origin'],
		['permissions-policy', NO_DEVICES],
		['content-security-policy', NOT_A_PAGE],
		...(publicOrigin?.startsWith('https:')
			? [['strict-transport-security', 'max-age=31536000'] as [string, string]]
			: [])
	];
}

const NO_DEVICES = [
	...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid', 'magnetometer'],
	...['microphone', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking']
]
	.map((name) => `${name}=()`)
	.join(', ');

const NOT_A_PAGE = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
