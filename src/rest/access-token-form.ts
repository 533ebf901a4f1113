/** The longest access token, in characters: it fits into common size limits of headers. */
export const maxAccessTokenLength = 8_192;

/** For error messages: the rule of `isAccessToken`. */
export const accessTokenForm = `1 to ${maxAccessTokenLength} visible ASCII characters without blanks`;

// From "!" to "~". The interface does not say how tokens look ("Authentication"), so REST decides: the form of RFC 6750
// would refuse the tokens of common frameworks, such as "12|AbCd".
const visible = /^[\x21-\x7e]+$/;

/** Whether a text can be sent to REST as an access token: no character of it may end or split a header. */
export function isAccessToken(text: string): boolean {
  return text.length <= maxAccessTokenLength && visible.test(text);
}
