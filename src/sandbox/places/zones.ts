function numberedZones(count: number): string {
  return Array.from({ length: count }, (_, index) => `Comuna ${index + 1}`).join(', ');
}

/**
 * Zones of the larger cities, by department and municipality: comunas, localidades and rural corregimientos. Comunas
 * without a name have a number.
 */
export const zones: Readonly<Record<string, string>> = {
  'Bogotá D.C./Bogotá D.C.': `Usaquén, Chapinero, Santa Fe, San Cristóbal, Usme, Tunjuelito, Bosa, Kennedy, Fontibón,
    Engativá, Suba, Barrios Unidos, Teusaquillo, Los Mártires, Antonio Nariño, Puente Aranda, La Candelaria,
    Rafael Uribe Uribe, Ciudad Bolívar, Sumapaz`,
  'Antioquia/Medellín': `Popular, Santa Cruz, Manrique, Aranjuez, Castilla, Doce de Octubre, Robledo, Villa Hermosa,
    Buenos Aires, La Candelaria, Laureles, La América, San Javier, El Poblado, Guayabal, Belén,
    San Sebastián de Palmitas, San Cristóbal, Altavista, San Antonio de Prado, Santa Elena`,
  'Antioquia/Bello': `París, La Madera, Santa Ana, Suárez, La Cumbre, Bellavista, Altos de Niquía, Niquía, Fontidueño,
    Acevedo, San Félix`,
  'Atlántico/Barranquilla': 'Riomar, Norte-Centro Histórico, Suroccidente, Suroriente, Metropolitana',
  'Bolívar/Cartagena de Indias': `Histórica y del Caribe Norte, De la Virgen y Turística, Industrial y de la Bahía,
    Bayunca, La Boquilla, Pasacaballos, Barú, Santa Ana, Tierra Bomba, Bocachica, Caño del Oro, Punta Canoa,
    Arroyo de Piedra, Arroyo Grande, Pontezuela`,
  'Caldas/Manizales': `Atardeceres, San José, Cumanday, La Estación, Ciudadela del Norte, Ecoturístico Cerro de Oro,
    Tesorito, Palogrande, Universitaria, La Fuente, La Macarena`,
  'Cauca/Popayán': numberedZones(9),
  'Cesar/Valledupar': numberedZones(6),
  'Córdoba/Montería': numberedZones(9),
  'Cundinamarca/Soacha': 'Compartir, Soacha Central, La Despensa, Cazucá, San Mateo, San Humberto',
  'Huila/Neiva': numberedZones(10),
  'Magdalena/Santa Marta': `Cultural Tayrona San Pedro Alejandrino, Histórica Rodrigo de Bastidas,
    Turística Perla del Caribe, Minca, Bonda, Taganga, Guachaca`,
  'Meta/Villavicencio': numberedZones(8),
  'Nariño/Pasto': `${numberedZones(12)}, Buesaquillo, Cabrera, Catambuco, El Encano, El Socorro, Genoy, Gualmatán,
    Jamondino, Jongovito, La Caldera, La Laguna, Mapachico, Mocondino, Morasurco, Obonuco, San Fernando, Santa Bárbara`,
  'Norte de Santander/Cúcuta': numberedZones(10),
  'Quindío/Armenia': `Centenario, Rufino José Cuervo Sur, Alfonso López, Francisco de Paula Santander, El Bosque,
    San José, El Cafetero, Libertadores, Los Fundadores, Quimbaya`,
  'Risaralda/Pereira': `Villavicencio, Oriente, Universidad, El Rocío, Centro, Río Otún, Boston, Jardín, Cuba,
    Del Café, El Oso, Perla del Otún, Consota, El Poblado, Olímpica, San Joaquín, Ferrocarril, San Nicolás,
    Villa Santana, Altagracia, Arabia, Caimalito, Cerritos, Combia Alta, Combia Baja, Estrella La Palmilla, La Bella,
    La Florida, Morelia, Puerto Caldas, Tribunas Córcega`,
  'Santander/Bucaramanga': `Norte, Nororiental, San Francisco, Occidental, García Rovira, La Concordia, Ciudadela,
    Suroccidente, La Pedregosa, Provenza, Sur, Cabecera del Llano, Oriental, Morrorico, Centro, Lagos del Cacique,
    Mutis`,
  'Tolima/Ibagué': numberedZones(13),
  'Valle del Cauca/Cali': `${numberedZones(22)}, El Hormiguero, El Saladito, Felidia, Golondrinas, La Buitrera, La Castilla,
    La Elvira, La Leonera, La Paz, Los Andes, Montebello, Navarro, Pance, Pichindé, Villacarmelo`,
  'Valle del Cauca/Buenaventura': 'Isla-Cascajal, Continente-El Pailón',
};
