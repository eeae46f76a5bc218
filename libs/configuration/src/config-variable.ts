/**
 * Environment variable with the path of the configuration file. In its own module, so that `--help` does not load the
 * settings.
 */
export const configVariable = 'SLUICE_CONFIG';
