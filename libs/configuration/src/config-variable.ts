/** The variable that names the file. Apart from the table of settings, which only a configuration needs. */
export const configVariable = 'SLUICE_CONFIG';
