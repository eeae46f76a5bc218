/** Marks a file as a recording in its header: "Slui". */
export const applicationId = 0x53_6c_75_69;
/** Raise it with every change of the schema. Each version has golden files in tests/recording-format. */
export const schemaVersion = 2;

/**
 * Times are in milliseconds since the Unix epoch. A payload is a message in JSON, compressed by zstd. With `base`, the payload of that
 * record is the dictionary. The state of a Service follows from the records since the last one with `snapshot = 1`.
 */
export const schema = `
  CREATE TABLE services (
    id INTEGER PRIMARY KEY,
    -- CLUSTER/NAMESPACE/SERVICE, or the identity of a cluster that was removed
    key TEXT NOT NULL UNIQUE
  );
  CREATE TABLE clusters (identity TEXT PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    service INTEGER NOT NULL REFERENCES services,
    -- never earlier than that of the record before
    received_at REAL NOT NULL,
    topic TEXT NOT NULL CHECK (topic IN ('changes', 'mutations')),
    snapshot INTEGER NOT NULL,
    text INTEGER NOT NULL REFERENCES texts,
    base INTEGER REFERENCES records,
    traceparent TEXT,
    payload BLOB NOT NULL
  );
  CREATE INDEX records_of_service ON records (service, received_at);
  CREATE INDEX snapshots_of_service ON records (service, received_at) WHERE snapshot = 1;
  CREATE INDEX records_by_text ON records (text);
  -- Time in which Services had problems. Without an end, it continues in the next file.
  CREATE TABLE problems (
    id INTEGER PRIMARY KEY,
    service INTEGER NOT NULL REFERENCES services,
    -- such as NoReadyEndpoints
    reason INTEGER NOT NULL REFERENCES texts,
    message INTEGER NOT NULL REFERENCES texts,
    started_at REAL NOT NULL,
    ended_at REAL,
    -- 1: it began in an earlier file, or before the recording
    continued INTEGER NOT NULL,
    -- the last event of the Service or its Pods before
    event INTEGER REFERENCES texts
  );
  CREATE INDEX open_problems ON problems (service) WHERE ended_at IS NULL;
  -- Another field manager than before has written a slice or the Endpoints of a Service.
  CREATE TABLE manager_changes (
    service INTEGER NOT NULL REFERENCES services,
    received_at REAL NOT NULL,
    -- slice/NAME or endpoints
    object INTEGER NOT NULL REFERENCES texts,
    was INTEGER NOT NULL REFERENCES texts,
    became INTEGER NOT NULL REFERENCES texts
  );
  -- How long slices or Endpoints did not show a Pod as they should have. Endpoints only from a second on.
  CREATE TABLE propagations (
    id INTEGER PRIMARY KEY,
    service INTEGER NOT NULL REFERENCES services,
    pod INTEGER NOT NULL REFERENCES texts,
    -- slices or Endpoints
    place INTEGER NOT NULL REFERENCES texts,
    -- as they showed the Pod: absent, not ready, ready or terminating
    was INTEGER NOT NULL REFERENCES texts,
    -- as they should have
    became INTEGER NOT NULL REFERENCES texts,
    event INTEGER NOT NULL REFERENCES texts,
    started_at REAL NOT NULL,
    -- 0: it began before the Service was watched, or while it was not
    start_known INTEGER NOT NULL,
    -- null: it continued when the recording ended
    ended_at REAL,
    -- written; superseded by a later event; unobserved: while the Service was not watched
    "end" INTEGER REFERENCES texts
  );
  CREATE INDEX propagations_by_start ON propagations (started_at);
  CREATE INDEX propagations_of_service ON propagations (service, started_at);
  CREATE INDEX propagations_by_duration ON propagations (ended_at - started_at);
  -- One row. Between the last time of a file and the start of the next one, nothing was recorded.
  CREATE TABLE recording (
    started_at REAL NOT NULL,
    last_at REAL NOT NULL,
    version TEXT NOT NULL,
    -- 1: names, addresses, labels and texts are replaced by pseudonyms
    redacted INTEGER NOT NULL DEFAULT 0
  );
  CREATE VIEW history AS
    SELECT
      records.id,
      strftime('%Y-%m-%dT%H:%M:%fZ', received_at / 1000.0, 'unixepoch') AS time,
      services.key AS service,
      texts.text,
      topic,
      snapshot,
      traceparent
    FROM records JOIN services ON services.id = records.service JOIN texts ON texts.id = records.text
    ORDER BY records.id;
  CREATE VIEW pod_changes AS
    SELECT
      strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS time,
      services.key AS service,
      pods.text AS pod,
      places.text AS place,
      befores.text AS was,
      afters.text AS became,
      ended_at - started_at AS took_ms,
      ends.text AS "end",
      events.text AS event
    FROM propagations
      JOIN services ON services.id = service
      JOIN texts AS pods ON pods.id = pod
      JOIN texts AS places ON places.id = place
      JOIN texts AS befores ON befores.id = was
      JOIN texts AS afters ON afters.id = became
      JOIN texts AS events ON events.id = event
      LEFT JOIN texts AS ends ON ends.id = "end"
    ORDER BY propagations.id;
  CREATE VIEW service_problems AS
    SELECT
      strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS time,
      services.key AS service,
      reasons.text AS reason,
      messages.text AS message,
      ended_at - started_at AS took_ms,
      events.text AS event
    FROM problems
      JOIN services ON services.id = service
      JOIN texts AS reasons ON reasons.id = reason
      JOIN texts AS messages ON messages.id = message
      LEFT JOIN texts AS events ON events.id = event
    ORDER BY problems.id;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;
