import { names } from '../../places/department.ts';

/** Common Colombian first names. */
export const firstNames =
  names(`María, José, Luz Marina, Andrés, Sofía, Juan Pablo, Valentina, Jesús, Ángela, Óscar,
  Mónica, Sebastián, Lucía, Iván, Paola, Germán, Íngrid, Nicolás, Daniela, Héctor, Adriana, Martín, Verónica, Raúl,
  Yesenia, Wilson, Leidy Johana, Édgar, Catalina, Fabián, Beatriz, Álvaro, Rocío, César Augusto, Natalia, Julián, Inés,
  Ramón, Jazmín, Hernán, Clara Inés, Tomás, Yurani, Rubén, Piedad, Félix, Estefanía, Gonzalo, Marleny, Simón`);

export const lastNames =
  names(`Rodríguez, Gómez, Martínez, Peña, Ñáñez, García, López, Muñoz, Hernández, Sánchez,
  Ramírez, Torres, Díaz, Castaño, Vargas, Rojas, Jiménez, Moreno, Ávila, Gutiérrez, Ortiz, Ruiz, Álvarez, Castro, Suárez,
  Quiñones, Cárdenas, Ospina, Restrepo, Zapata, Echeverri, Londoño, Bermúdez, Acuña, Patiño, Cuéllar, Ibáñez, Mejía,
  Velásquez, Arango, Güiza, Piedrahíta, Chacón, Bolaños, Montaño, Úsuga, Pérez, Agudelo, Betancur, Villamizar`);

export const companies =
  names(`Hotel La Casona, Restaurante El Fogón, Oficinas Torre Norte, Panadería La Espiga,
  Librería El Búho, Colegio San José, Clínica Santa Inés, Gimnasio Ágora, Coworking El Nido, Ferretería Peñalosa`);

export const streets = ['Calle', 'Carrera', 'Avenida', 'Diagonal', 'Transversal'];

export const neighbourhoods =
  names(`La Floresta, El Prado, San Fernando, La Esperanza, Villa del Río, Los Álamos,
  El Jardín, Santa Mónica, Las Américas, La Castellana, El Recreo, Alameda, Buenos Aires, La Victoria`);

export const farms =
  names(`La Esmeralda, El Porvenir, Los Guayacanes, La Ilusión, El Cañón, Villa Luz, San Isidro,
  La Peña, El Mirador, Los Naranjos`);
