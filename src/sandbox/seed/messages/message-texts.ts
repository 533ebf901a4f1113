/** Texts that a shop writes by hand. `{name}` stands for the customer's first name. */
export const messageTexts: readonly string[] = [
  'Hola {name}, buenos días ☀️ ¿En qué te podemos ayudar?',
  'Claro que sí, ya reviso.',
  'Tu pedido sale mañana a primera hora 🚚',
  '¿Nos confirmas la dirección, por favor? Nos falta el número del apartamento.',
  'Listo, {name}, quedó corregida la dirección.',
  'El mensajero pasó y no encontró a nadie. ¿Qué día te queda bien?',
  'Perfecto, lo programamos para el sábado en la mañana.',
  'Con mucho gusto 💛',
  'Sí tenemos, nos quedan tres. ¿Te separo uno?',
  'El pago se hace en efectivo al recibir. El mensajero no lleva datáfono.',
  'Puedes pagar por PSE, por transferencia o con tarjeta.',
  'Te comparto el número de guía apenas la transportadora la genere.',
  'Qué pena contigo, {name}: la transportadora nos reporta una demora por cierre de vía 🛣️',
  'Ya está en la terminal de destino; hoy en la tarde te llaman.',
  '¿Lo recibiste bien? Cuéntanos cómo te fue 🙌',
  'Para cambios tienes 30 días; guarda la etiqueta y la factura.',
  'La factura te llega al correo con el que compraste.',
  'Mil gracias por tu compra, {name} 🙏 ¡Vuelve pronto!',
  'Estamos en horario de 7 a. m. a 6 p. m. de lunes a sábado. Te respondemos apenas abramos.',
  'No, el envío a ese municipio tarda entre cuatro y seis días hábiles porque la ruta sale dos veces por semana. ' +
    'Si lo necesitas antes, te lo podemos dejar en la oficina de la transportadora en la capital del departamento, ' +
    'donde lo recoges con tu cédula desde el día siguiente a la llegada.',
];
