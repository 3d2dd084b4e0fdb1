#!/usr/bin/env node
/** Prints the current weather and the forecast of a place, from Open-Meteo. */
import { parseArgs } from 'node:util';

const USAGE = `Usage: weather.mjs CITY [--day DAY] [--days NUMBER] [--units UNITS] [--timeout SECONDS]

  CITY       a place, "New York" or "Paris, Texas"
  --day      one day only: today or tomorrow
  --days     days of forecast, 1 to 16 (default 3)
  --units    metric (default) or imperial
  --timeout  seconds to wait for each answer, 1 to 60 (default 10)

Exit codes: 0 ok, 1 no such place, 2 wrong usage, 4 service unreachable.`;

/** By their place in a forecast, which starts today. */
const DAYS = ['today', 'tomorrow'];

const UNITS = new Map();
UNITS.set('metric', { temperature: '°C', wind: 'km/h', rain: 'mm', parameters: {} });
UNITS.set('imperial', {
	temperature: '°F',
	wind: 'mph',
	rain: 'inch',
	parameters: { temperature_unit: 'fahrenheit', wind_speed_unit: 'mph', precipitation_unit: 'inch' }
});

/** WMO code 4677 as far as Open-Meteo uses it. */
const CONDITIONS = new Map([
	[0, 'clear sky'],
	[1, 'mostly clear'],
	[2, 'partly cloudy'],
	[3, 'overcast'],
	[45, 'fog'],
	[48, 'freezing fog'],
	[51, 'light drizzle'],
	[53, 'drizzle'],
	[55, 'heavy drizzle'],
	[56, 'light freezing drizzle'],
	[57, 'freezing drizzle'],
	[61, 'light rain'],
	[63, 'rain'],
	[65, 'heavy rain'],
	[66, 'light freezing rain'],
	[67, 'freezing rain'],
	[71, 'light snow'],
	[73, 'snow'],
	[75, 'heavy snow'],
	[77, 'snow grains'],
	[80, 'light showers'],
	[81, 'showers'],
	[82, 'violent showers'],
	[85, 'light snow showers'],
	[86, 'snow showers'],
	[95, 'thunderstorm'],
	[96, 'thunderstorm with hail'],
	[99, 'thunderstorm with heavy hail']
]);

class Failure extends Error {
	constructor(exitCode, message) {
		super(message);
		this.exitCode = exitCode;
	}
}

async function main(args) {
	const { city, day, days, units, timeoutMs } = readArguments(args);
	const places = await findPlaces(city, timeoutMs);
	const place = places[0];
	const forecast = await getJson(baseUrl('WEATHER_API_URL', 'https://api.open-meteo.com'), '/v1/forecast', timeoutMs, {
		latitude: place.latitude,
		longitude: place.longitude,
		current: 'temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m',
		daily:
			'weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_speed_10m_max',
		timezone: 'auto',
		forecast_days: days,
		...units.parameters
	});
	if (!forecast.current || !Array.isArray(forecast.daily?.time)) {
		throw new Failure(4, 'The weather service sent no forecast. Try again later.');
	}
	console.log(render(places, forecast, units, day));
}

function readArguments(args) {
	let parsed;
	try {
		parsed = parseArgs({
			args,
			allowPositionals: true,
			options: {
				help: { type: 'boolean', short: 'h' },
				day: { type: 'string' },
				days: { type: 'string' },
				units: { type: 'string', default: 'metric' },
				timeout: { type: 'string', default: '10' }
			}
		});
	} catch (error) {
		throw new Failure(2, `${error.message}\n\n${USAGE}`);
	}
	const { values, positionals } = parsed;
	if (values.help) {
		console.log(USAGE);
		process.exit(0);
	}
	const city = positionals.join(' ').trim();
	if (!city) throw new Failure(2, `Which city? ${USAGE}`);
	const units = UNITS.get(values.units.toLowerCase());
	if (!units) throw new Failure(2, `--units must be metric or imperial, not "${values.units}".`);
	const day = values.day === undefined ? null : DAYS.indexOf(values.day.toLowerCase());
	if (day === -1) throw new Failure(2, `--day must be today or tomorrow, not "${values.day}". For more, use --days.`);
	if (day !== null && values.days !== undefined) throw new Failure(2, 'Use --day or --days, not both.');
	return {
		city,
		day,
		units,
		days: day === null ? wholeNumber('--days', values.days ?? '3', 1, 16) : day + 1,
		timeoutMs: wholeNumber('--timeout', values.timeout, 1, 60) * 1000
	};
}

function wholeNumber(option, text, least, most) {
	const number = Number(text);
	if (Number.isInteger(number) && number >= least && number <= most) return number;
	throw new Failure(2, `${option} must be a whole number from ${least} to ${most}, not "${text}".`);
}

/** The places that fit, best first; "Paris, Texas" keeps only those in Texas. */
async function findPlaces(city, timeoutMs) {
	const [name, ...within] = city.split(',').map((part) => part.trim());
	const answer = await getJson(
		baseUrl('WEATHER_GEOCODING_URL', 'https://geocoding-api.open-meteo.com'),
		'/v1/search',
		timeoutMs,
		{ name, count: within.length > 0 ? 50 : 10, language: 'en', format: 'json' }
	);
	const found = Array.isArray(answer.results) ? answer.results : [];
	if (found.length === 0) {
		throw new Failure(1, `Couldn't find a place called "${name}". Check the spelling or try a larger town nearby.`);
	}
	const fitting = found.filter((place) => within.every((part) => part === '' || liesIn(place, part)));
	if (fitting.length === 0) {
		const known = found.slice(0, 5).map(fullName).join('; ');
		throw new Failure(1, `Couldn't find "${name}" in ${within.join(', ')}. Places with that name: ${known}.`);
	}
	return fitting;
}

function liesIn(place, part) {
	const wanted = part.toLowerCase();
	return [place.country, place.country_code, place.admin1, place.admin2].some(
		(area) => typeof area === 'string' && area.toLowerCase() === wanted
	);
}

function fullName(place) {
	return [...new Set([place.name, place.admin1, place.country].filter(Boolean))].join(', ');
}

function baseUrl(variable, standard) {
	const url = process.env[variable] || standard;
	if (!URL.canParse(url)) throw new Failure(3, `${variable} isn't a valid address: "${url}".`);
	return url.replace(/\/+$/, '');
}

async function getJson(base, path, timeoutMs, query) {
	const url = new URL(base + path);
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
	try {
		const response = await fetch(url, {
			signal: AbortSignal.timeout(timeoutMs),
			headers: { accept: 'application/json' }
		});
		const text = await response.text();
		if (response.ok) return JSON.parse(text);
		throw new Failure(4, `${url.host} answered ${response.status}${reasonIn(text)}. Try again later.`);
	} catch (error) {
		if (error instanceof Failure) throw error;
		throw new Failure(4, unreachable(url, error, timeoutMs));
	}
}

function reasonIn(text) {
	try {
		const { reason } = JSON.parse(text);
		return typeof reason === 'string' ? ` (${reason})` : '';
	} catch {
		return ''; // A proxy's error page is no reason worth showing.
	}
}

function unreachable(url, error, timeoutMs) {
	if (error.name === 'TimeoutError')
		return `${url.host} didn't answer within ${timeoutMs / 1000} seconds. Try again later.`;
	if (error instanceof SyntaxError) return `${url.host} didn't answer with JSON. Try again later.`;
	const code = error.cause?.code ?? error.code;
	const detail = code ? ` (${code})` : '';
	// The reason comes last: that's the line people are shown first.
	return `Would have sent: GET ${url}\nNo connection to ${url.host}${detail}.`;
}

/** `wantedDay`: the only day that is shown, as its place in the forecast; null for all. */
function render(places, forecast, units, wantedDay) {
	const [place, ...others] = places;
	const now = forecast.current;
	const isOfLaterDay = wantedDay !== null && wantedDay > 0;
	const lines = [`# Weather in ${fullName(place)}`, ''];
	if (!isOfLaterDay) {
		lines.push(
			`**Now** (${clock(now.time)}, ${forecast.timezone ?? 'local time'}): ${condition(now.weather_code)}, ` +
				`${measure(now.temperature_2m, units.temperature)}, feels like ${measure(now.apparent_temperature, units.temperature)}, ` +
				`humidity ${measure(now.relative_humidity_2m, '%')}, wind ${measure(now.wind_speed_10m, units.wind)}, ` +
				`precipitation ${measure(now.precipitation, units.rain)}.`,
			''
		);
	}
	lines.push(
		'| day | weather | low | high | precipitation | chance | wind up to |',
		'|---|---|---:|---:|---:|---:|---:|'
	);
	const { daily } = forecast;
	for (const [index, day] of daily.time.entries()) {
		if (wantedDay !== null && index !== wantedDay) continue;
		const cells = [
			weekday(day),
			condition(daily.weather_code?.[index]),
			measure(daily.temperature_2m_min?.[index], units.temperature),
			measure(daily.temperature_2m_max?.[index], units.temperature),
			measure(daily.precipitation_sum?.[index], units.rain),
			measure(daily.precipitation_probability_max?.[index], '%'),
			measure(daily.wind_speed_10m_max?.[index], units.wind)
		];
		lines.push(`| ${cells.join(' | ')} |`);
	}
	lines.push('', 'Source: Open-Meteo.com');
	const twins = others.filter((other) => other.name === place.name).slice(0, 3);
	if (twins.length > 0) lines.push('', `Other places with that name: ${twins.map(fullName).join('; ')}.`);
	return lines.join('\n');
}

function condition(code) {
	return CONDITIONS.get(code) ?? 'unknown';
}

function measure(value, unit) {
	return typeof value === 'number' ? `${value} ${unit}` : '–';
}

function clock(time) {
	return typeof time === 'string' ? time.replace('T', ' ') : 'now';
}

function weekday(day) {
	const date = new Date(`${day}T00:00:00Z`);
	if (Number.isNaN(date.getTime())) return day;
	return `${date.toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' })} ${day}`;
}

try {
	await main(process.argv.slice(2));
} catch (error) {
	console.error(error instanceof Failure ? error.message : `Couldn't get the weather: ${error.message}`);
	process.exitCode = error instanceof Failure ? error.exitCode : 1;
}
