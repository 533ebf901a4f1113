/** The kind of value for a template parameter. */
export type ParameterMeaning =
  | 'FIRST_NAME'
  | 'ORDER'
  | 'CONTENT'
  | 'AMOUNT'
  | 'COURIER'
  | 'CITY'
  | 'ADDRESS'
  | 'DAY'
  | 'CODE'
  | 'STORE';

interface BlueprintText {
  text: string;
  /** By parameter name, in the order of the text. */
  parameters: Readonly<Record<string, ParameterMeaning>>;
}

/** A template with the meaning of its parameters. */
export interface TemplateBlueprint {
  name: string;
  language: 'es' | 'en' | 'pt_BR';
  category: 'UTILITY' | 'MARKETING' | 'AUTHENTICATION';
  header?: BlueprintText;
  body: BlueprintText;
  footer?: string;
  buttons: string[];
}

/** The templates of every merchant. The merchant's name is a parameter. */
export const templateBlueprints: readonly TemplateBlueprint[] = [
  {
    name: 'pedido_confirmado',
    language: 'es',
    category: 'UTILITY',
    header: { text: 'Pedido {{1}} confirmado ✅', parameters: { '1': 'ORDER' } },
    body: {
      text: 'Hola {{1}}, confirmamos tu pedido: {{2}}. El valor es {{3}} y lo enviamos a {{4}}.',
      parameters: { '1': 'FIRST_NAME', '2': 'CONTENT', '3': 'AMOUNT', '4': 'CITY' },
    },
    footer: 'Responde a este mensaje si algo no está bien.',
    buttons: ['Ver pedido', 'Hablar con una persona'],
  },
  {
    name: 'pedido_confirmado',
    language: 'en',
    category: 'UTILITY',
    header: { text: 'Order {{1}} confirmed ✅', parameters: { '1': 'ORDER' } },
    body: {
      text: 'Hi {{1}}, we confirm your order: {{2}}. The total is {{3}} and we ship it to {{4}}.',
      parameters: { '1': 'FIRST_NAME', '2': 'CONTENT', '3': 'AMOUNT', '4': 'CITY' },
    },
    footer: 'Reply to this message if anything is wrong.',
    buttons: ['View order', 'Talk to a person'],
  },
  {
    name: 'pedido_en_camino',
    language: 'es',
    category: 'UTILITY',
    header: {
      text: '{{customer_name}}, tu pedido va en camino 🚚',
      parameters: { customer_name: 'FIRST_NAME' },
    },
    body: {
      text: 'Lo lleva {{courier}} y llega a {{city}} el {{delivery_day}}. Tu número de pedido es {{order_id}}.',
      parameters: { courier: 'COURIER', city: 'CITY', delivery_day: 'DAY', order_id: 'ORDER' },
    },
    footer: 'Gracias por comprar con nosotros.',
    buttons: ['Seguir mi pedido'],
  },
  {
    name: 'confirmar_direccion',
    language: 'es',
    category: 'UTILITY',
    body: {
      text: 'Hola {{customer_name}} 👋 ¿Es correcta esta dirección para la entrega?\n\n{{address}}\n{{city}}',
      parameters: { customer_name: 'FIRST_NAME', address: 'ADDRESS', city: 'CITY' },
    },
    buttons: ['Sí, es correcta', 'Cambiar dirección'],
  },
  {
    name: 'codigo_de_acceso',
    language: 'es',
    category: 'AUTHENTICATION',
    body: { text: '{{1}} es tu código de acceso. No lo compartas.', parameters: { '1': 'CODE' } },
    buttons: [],
  },
  {
    name: 'gracias_por_tu_compra',
    language: 'es',
    category: 'MARKETING',
    header: { text: '¡Gracias! 💛', parameters: {} },
    body: { text: 'Tu opinión nos ayuda a mejorar. ¿Cómo te fue con tu pedido?', parameters: {} },
    buttons: ['Muy bien', 'Regular', 'Mal'],
  },
  {
    name: 'pago_al_recibir',
    language: 'es',
    category: 'UTILITY',
    header: { text: 'Hoy entregamos tu pedido', parameters: {} },
    body: {
      text: '{{customer_name}}, ten listos {{amount}} en efectivo. El mensajero de {{courier}} pasa hoy por {{address}}.',
      parameters: { customer_name: 'FIRST_NAME', amount: 'AMOUNT', courier: 'COURIER', address: 'ADDRESS' },
    },
    footer: 'El mensajero no siempre lleva cambio.',
    buttons: [],
  },
  {
    name: 'pedido_devuelto',
    language: 'es',
    category: 'UTILITY',
    body: {
      text: 'Hola {{1}}, no pudimos entregar tu pedido {{2}} y viene de regreso. ¿Lo enviamos otra vez?',
      parameters: { '1': 'FIRST_NAME', '2': 'ORDER' },
    },
    footer: 'El segundo envío tiene costo.',
    buttons: ['Enviar otra vez', 'Cancelar'],
  },
  {
    name: 'pedido_en_camino',
    language: 'en',
    category: 'UTILITY',
    header: {
      text: '{{customer_name}}, your order is on its way 🚚',
      parameters: { customer_name: 'FIRST_NAME' },
    },
    body: {
      text: '{{courier}} brings it to {{city}} by {{delivery_day}}. Your order number is {{order_id}}.',
      parameters: { courier: 'COURIER', city: 'CITY', delivery_day: 'DAY', order_id: 'ORDER' },
    },
    footer: 'Thank you for shopping with us.',
    buttons: ['Track my order'],
  },
  {
    name: 'novedades_de_temporada',
    language: 'es',
    category: 'MARKETING',
    header: { text: 'Novedades de {{store}} 🌱', parameters: { store: 'STORE' } },
    body: {
      text: 'Hola {{customer_name}}: llegó lo nuevo. Como ya nos compraste {{product}}, tienes prioridad hasta el {{day}}.',
      parameters: { customer_name: 'FIRST_NAME', product: 'CONTENT', day: 'DAY' },
    },
    footer: 'Escribe BAJA para no recibir promociones.',
    buttons: ['Ver novedades', 'No me interesa'],
  },
  {
    name: 'novedades_de_temporada',
    language: 'pt_BR',
    category: 'MARKETING',
    header: { text: 'Novidades da {{store}} 🌱', parameters: { store: 'STORE' } },
    body: {
      text: 'Olá {{customer_name}}: chegou a nova coleção. Você tem prioridade até {{day}}.',
      parameters: { customer_name: 'FIRST_NAME', day: 'DAY' },
    },
    footer: 'Escreva SAIR para não receber promoções.',
    buttons: ['Ver novidades'],
  },
  {
    name: 'carrito_abandonado',
    language: 'es',
    category: 'MARKETING',
    body: {
      text: '{{1}}, dejaste algo en el carrito de {{2}}. Lo guardamos hasta el {{3}}.',
      parameters: { '1': 'FIRST_NAME', '2': 'STORE', '3': 'DAY' },
    },
    buttons: ['Terminar compra'],
  },
];
