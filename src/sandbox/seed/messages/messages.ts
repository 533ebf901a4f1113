import type { Message } from '../../interface/schemas.ts';
import type { Calendar, Moment } from '../calendar.ts';
import type { MerchantProfile } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';
import { messageTexts } from './message-texts.ts';
import { sendTemplate, type Topic } from './sent-templates.ts';
import { type TemplateBlueprint, templateBlueprints } from './template-blueprints.ts';

/** Was sent, and deleted from the channel since. */
const deletedTemplate: TemplateBlueprint = {
  name: 'feria_del_hogar',
  language: 'es',
  category: 'MARKETING',
  header: { text: 'Feria del hogar', parameters: {} },
  body: {
    text: '{{customer_name}}, te esperamos hasta el {{day}}.',
    parameters: { customer_name: 'FIRST_NAME', day: 'DAY' },
  },
  buttons: [],
};

/** A conversation to be filled. */
export interface Conversation {
  name: string;
  number: number;
  /** Index of the channel. */
  channel: number;
  topic: Topic;
  lastDaysOld: number;
}

/** Makes up what a shop wrote in a conversation, newest first. */
export function createMessages(
  { name, number, channel, topic, lastDaysOld }: Conversation,
  profile: MerchantProfile,
  calendar: Calendar,
  random: Random,
): Message[] {
  const { lengths, showcase, withDeletedTemplate } = profile.conversations;
  const chosen = random.weighted([
    [random.integer(1, 6), 5],
    [random.integer(7, 30), 4],
    [random.integer(31, 90), 1],
  ]);
  const length = lengths[number] ?? chosen;
  const offered = templateBlueprints.slice(0, profile.channels[channel]?.templates);
  const language = random.chance(0.9) ? 'es' : 'en';
  const usual = offered.filter((blueprint) => blueprint.language === language);
  return messageMoments(lastDaysOld, length, random).map((moment, index): Message => {
    const position = length - 1 - index;
    const inTurn = number === showcase ? offered[position / 2] : undefined;
    const deleted = position === 1 && withDeletedTemplate.includes(number) ? deletedTemplate : undefined;
    const head = {
      name: `${name}/messages/m${String(position + 1).padStart(3, '0')}`,
      createTime: calendar.iso(moment),
      status: statusOf(moment, index, random),
    };
    const text = random.pick(messageTexts).replaceAll('{name}', topic.firstName);
    const template = sendTemplate(deleted ?? inTurn ?? random.pick(usual), topic, random);
    // A shop may only open a conversation with a template.
    const templated = position === 0 || deleted || inTurn || (random.chance(0.2) && number !== showcase);
    return templated
      ? { ...head, contentType: 'TEMPLATE', template }
      : { ...head, contentType: 'TEXT', text };
  });
}

/** Newest first: a few messages a day, on days that go back from the last one. */
function messageMoments(lastDaysOld: number, length: number, random: Random): Moment[] {
  let daysOld = lastDaysOld;
  let fraction = 0.95;
  return Array.from({ length }, (): Moment => {
    fraction -= random.fraction() * 0.12;
    if (fraction < 0.05) {
      daysOld += random.integer(1, 5);
      fraction = 0.95 - random.fraction() * 0.3;
    }
    return { daysOld, fraction };
  });
}

function statusOf({ daysOld }: Moment, index: number, random: Random): Message['status'] {
  const chosen = random.weighted<Message['status']>([
    ['READ', 74],
    ['DELIVERED', 16],
    ['SENT', 5],
    ['FAILED', 5],
  ]);
  return daysOld === 0 && index < 2 ? (index === 0 ? 'SENDING' : 'SENT') : chosen;
}
