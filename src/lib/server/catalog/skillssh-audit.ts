/** What those who look through the skills of skills.sh say of one (FEATURES E25). */
import { z } from 'zod';
import type { StagedSkill } from '../../shared/install.ts';
import { fetchJson, type Outbound } from './outbound.ts';

const TIMEOUT_MS = 3000;
const MAX_BYTES = 64 * 1024;
const NAMES: Readonly<Record<string, string>> = { ath: 'Gen Agent Trust Hub', socket: 'Socket', snyk: 'Snyk' };
const finding = z.object({ risk: z.string().max(40).optional(), alerts: z.number().optional() });
const auditShape = z.record(z.string(), z.record(z.string().max(40), finding.nullable().catch(null)));

/** null where nobody knows it, or does not answer in time: an install never waits for it, nor fails by it. */
export async function fetchAudit(
	outbound: Outbound,
	url: string,
	source: string,
	slug: string,
	signal: AbortSignal
): Promise<StagedSkill['audit']> {
	const address = `${url}/audit?${new URLSearchParams({ source, skills: slug })}`;
	const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
	const asked = { service: 'The audit of skills.sh', what: `audit of ${slug}`, signal, ...limits };
	const all = await fetchJson(outbound, address, auditShape, asked).catch(() => null);
	const found = all && Object.hasOwn(all, slug) ? Object.entries(all[slug] ?? {}) : [];
	const audit = found.flatMap(([by, said]) => {
		const risk = said?.risk ?? (said?.alerts === undefined ? null : `${said.alerts} alerts`);
		return risk === null ? [] : [{ by: Object.hasOwn(NAMES, by) ? (NAMES[by] ?? by) : by, risk }];
	});
	return audit.length > 0 ? audit : null;
}
