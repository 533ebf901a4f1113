import { expect, test } from 'vitest';
import { isJson } from '../../../src/server/http/media-types.ts';

test.each([
  'application/json',
  'Application/JSON',
  'application/json ; charset=utf-8',
  'application/json;charset=UTF8',
  'application/json; charset="utf-8"',
])('isJson accepts %j', (contentType) => expect(isJson(contentType)).toBe(true));

test.each([
  null,
  '',
  'json',
  'application/jsonp',
  'application/graphql+json',
  'application/json, application/json',
  'application/json; charset=',
  'application/json; charset=latin1',
  'application/json; charset=utf-8; charset=utf-16',
  'text/plain; application/json',
])('isJson rejects %j', (contentType) => expect(isJson(contentType)).toBe(false));
