import type { Message } from '../../interface/schemas.ts';
import type { Calendar, Moment } from '../calendar.ts';
import type { MerchantProfile } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';
import { messageTexts } from './message-texts.ts';
import { sendTemplate, type Topic } from './sent-templates.ts';
import { type TemplateBlueprint, templateBlueprints } from './template-blueprints.ts';

/** A template that some messages use and that was then deleted from the channel. */
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

/** A conversation without messages. */
export interface Conversation {
  name: string;
  number: number;
  /** The index of the channel. */
  channel: number;
  topic: Topic;
  lastDaysOld: number;
}

/** Generates the messages that a shop sent in a conversation, newest first. */
export function createMessages(
  { name, number, channel, topic, lastDaysOld }: Conversation,
  profile: MerchantProfile,
  calendar: Calendar,
  random: Random,
): Message[] {
  const { lengths, showcase, withDeletedTemplate } = profile.conversations;
  const randomLength = random.weighted([
    [random.integer(1, 6), 5],
    [random.integer(7, 30), 4],
    [random.integer(31, 90), 1],
  ]);
  const length = lengths[number] ?? randomLength;
  const channelTemplates = templateBlueprints.slice(0, profile.channels[channel]?.templates);
  const language = random.chance(0.9) ? 'es' : 'en';
  const languageTemplates = channelTemplates.filter((blueprint) => blueprint.language === language);
  return messageMoments(lastDaysOld, length, random).map((moment, index): Message => {
    const position = length - 1 - index;
    // The showcase has a template at each second position, and texts between them.
    const isShowcaseTemplate = number === showcase && position % 2 === 0;
    const showcaseTemplate = isShowcaseTemplate ? channelTemplates[position / 2] : undefined;
    const deleted = position === 1 && withDeletedTemplate.includes(number) ? deletedTemplate : undefined;
    const base = {
      name: `${name}/messages/m${String(position + 1).padStart(3, '0')}`,
      createTime: calendar.iso(moment),
      status: statusOf(moment, index, random),
    };
    const text = random.pick(messageTexts).replaceAll('{name}', topic.firstName);
    const template = sendTemplate(
      deleted ?? showcaseTemplate ?? random.pick(languageTemplates),
      topic,
      random,
    );
    // The first message of a conversation must be a template.
    const isTemplate =
      position === 0 || deleted || showcaseTemplate || (random.chance(0.2) && number !== showcase);
    return isTemplate
      ? { ...base, contentType: 'TEMPLATE', template }
      : { ...base, contentType: 'TEXT', text };
  });
}

/** Generates moments, newest first: a few messages a day, going back from the last day. */
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
  const randomStatus = random.weighted<Message['status']>([
    ['READ', 74],
    ['DELIVERED', 16],
    ['SENT', 5],
    ['FAILED', 5],
  ]);
  return daysOld === 0 && index < 2 ? (index === 0 ? 'SENDING' : 'SENT') : randomStatus;
}
