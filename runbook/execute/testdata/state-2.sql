BEGIN TRANSACTION;
CREATE TABLE application_versions (
    version_id TEXT NOT NULL PRIMARY KEY,
    version_name TEXT NOT NULL UNIQUE,
    version_timestamp INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, "application_name" TEXT DEFAULT NULL);
INSERT INTO "application_versions" VALUES('abbcaa1f-4524-4581-9fc8-2763b3dddbb9','1',1795334499775,1795334499775,'plimsoll');
CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY);
INSERT INTO "dbos_migrations" VALUES(107);
CREATE TABLE event_dispatch_kv (
    service_name TEXT NOT NULL,
    workflow_fn_name TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    update_seq NUMERIC,
    update_time NUMERIC,
    PRIMARY KEY (service_name, workflow_fn_name, key)
);
CREATE TABLE notifications (
    message_uuid TEXT NOT NULL PRIMARY KEY,
    destination_uuid TEXT NOT NULL,
    topic TEXT,
    message TEXT NOT NULL,
    created_at_epoch_ms INTEGER NOT NULL, "serialization" TEXT DEFAULT NULL, "consumed" BOOLEAN NOT NULL DEFAULT FALSE,
    FOREIGN KEY (destination_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE operation_outputs (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    function_name TEXT NOT NULL DEFAULT '',
    output TEXT,
    error TEXT,
    child_workflow_id TEXT, started_at_epoch_ms INTEGER, completed_at_epoch_ms INTEGER, "serialization" TEXT DEFAULT NULL, "application_name" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, function_id),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',0,'entry','IntcIm51bWJlclwiOjEsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS43OTQ3NTNaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYmVnYW5cIixcImhlYWRlclwiOntcInJ1bmJvb2tcIjpcInRlc3QvZ2F0ZWRcIixcImhhc2hcIjpcImRjMWE3OTJmOTQyNDZkOGIxMzFjOWNhNWExMjQ4NWNjNjM4YTBmZjY4M2IyMzRkZDI0MmFiMmJhODZiMTJlM2VcIixcInRleHRcIjpcIlxcbnJ1bmJvb2s6IHRlc3QvZ2F0ZWRcXG5nYXRlOiB7cmVoZWFyc2FsczogMn1cXG5zdGVwczpcXG4gIC0ge2lkOiBhLCB1c2VzOiBjb21tYW5kLCB3aXRoOiB7cnVuOiBcXFwidHJ1ZVxcXCIsIHJlcGVhdGFibGU6IHRydWV9fVxcblwiLFwidmVyc2lvbnNcIjp7XCJjb21tYW5kXCI6MX0sXCJpbnB1dHNcIjp7fSxcImNsdXN0ZXJcIjpcImxhYjFcIixcImVudmlyb25tZW50XCI6XCJsYWJcIixcInRvcG9sb2d5XCI6XCJtYW55XCIsXCJwcmltYXJ5XCI6XCJuMVwiLFwiYnlcIjpcImFublwiLFwiYXRcIjpcIjIwMjYtMTEtMjJUMDg6MDE6MzkuNzU0NjE0NDE5WlwiLFwicGxhblwiOntcInJ1bmJvb2tcIjpcInRlc3QvZ2F0ZWRcIixcInN0ZXBzXCI6W3tcImtleVwiOlwiYVwiLFwidXNlc1wiOlwiY29tbWFuZFwiLFwidmVyc2lvblwiOjEsXCJlZmZlY3RcIjpcImlycmV2ZXJzaWJsZVwiLFwiaW5wdXRzXCI6e1wicmVwZWF0YWJsZVwiOnRydWUsXCJydW5cIjpcInRydWVcIn0sXCJzdGF0ZVwiOlwibmVlZGVkXCIsXCJpbnRlbmRlZFwiOntcInJ1blwiOlwidHJ1ZVwifSxcInJlYXNvblwiOlwidGhlcmUgaXMgbm8gY2hlY2s6IGl0IHJ1bnMgd2hlbmV2ZXIgaXRzIHN0ZXAgZG9lc1wifV0sXCJoYXNoXCI6XCI0ZWZhZmY3ZDE4YzY1NDM2XCJ9fX0sXCJwcmV2aW91c1wiOlwiXCIsXCJoYXNoXCI6XCJhMDYwZmI0NmRkZjIzZGU4N2Y1NmYxYWVkOGU1YjhmNjYwYjQzNjAzODRhMGM4NjM3OTljMTNiM2U5ODJjMThmXCJ9Ig==',NULL,NULL,1795334499794,1795334499796,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',1,'entry','IntcIm51bWJlclwiOjIsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MDE2MTdaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwib3BlbmVkXCIsXCJvcmRlclwiOntcImRvXCI6XCJydW5cIixcImJ5XCI6XCJhbm5cIn0sXCJob2xkZXJcIjpcInRlc3RcIixcImVwb2Noc1wiOntcImxhYjFcIjoyfX0sXCJwcmV2aW91c1wiOlwiYTA2MGZiNDZkZGYyM2RlODdmNTZmMWFlZDhlNWI4ZjY2MGI0MzYwMzg0YTBjODYzNzk5YzEzYjNlOTgyYzE4ZlwiLFwiaGFzaFwiOlwiYjUxZDBhNTAyNDZmNzFiNzU3ZDg0OWJhMjA4ZDg5NTZjYmE3NTQ1NmE4MmFmNTMyY2MxZjUyY2U0ZTNlYzlkYVwifSI=',NULL,NULL,1795334499801,1795334499801,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',2,'entry','IntcIm51bWJlclwiOjMsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MDIwNTRaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmFsdWVkXCIsXCJzdGVwXCI6XCJhXCIsXCJpbnB1dHNcIjp7XCJyZXBlYXRhYmxlXCI6dHJ1ZSxcInJ1blwiOlwidHJ1ZVwifX0sXCJwcmV2aW91c1wiOlwiYjUxZDBhNTAyNDZmNzFiNzU3ZDg0OWJhMjA4ZDg5NTZjYmE3NTQ1NmE4MmFmNTMyY2MxZjUyY2U0ZTNlYzlkYVwiLFwiaGFzaFwiOlwiM2Y4OTY2NDFmNzVkOGFhMzMxNzU1YTQ1ODNiNTRmNTQ1N2FhMThhNTUzZTI2YjYwZmNmNTJkYTYxZGYyZDRjZFwifSI=',NULL,NULL,1795334499802,1795334499802,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',3,'entry','IntcIm51bWJlclwiOjQsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MDM0OThaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiY2hlY2tlZFwiLFwic3RlcFwiOlwiYVwiLFwiZmluZGluZ1wiOntcInN0YXRlXCI6XCJuZWVkZWRcIixcImludGVuZGVkXCI6e1wicnVuXCI6XCJ0cnVlXCJ9LFwicmVhc29uXCI6XCJ0aGVyZSBpcyBubyBjaGVjazogaXQgcnVucyB3aGVuZXZlciBpdHMgc3RlcCBkb2VzXCJ9LFwidG9va1wiOjcwODkyfSxcInByZXZpb3VzXCI6XCIzZjg5NjY0MWY3NWQ4YWEzMzE3NTVhNDU4M2I1NGY1NDU3YWExOGE1NTNlMjZiNjBmY2Y1MmRhNjFkZjJkNGNkXCIsXCJoYXNoXCI6XCIzMjA1YjU4MjhhOTA3ZGM5NDNkMGVkOWUxOWYzNGZhNmYxMTMyNjhkYzI5YjllYTQ0YTBjNWUwN2YxNDg2NzE3XCJ9Ig==',NULL,NULL,1795334499803,1795334499803,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',4,'entry','IntcIm51bWJlclwiOjUsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MDQwMDJaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiaW50ZW5kZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwiZXBvY2hcIjoyLFwidG9rZW5cIjpcImdhdGVkLWVkeHNrei1nZHplZnhuajZiXCJ9LFwicHJldmlvdXNcIjpcIjMyMDViNTgyOGE5MDdkYzk0M2QwZWQ5ZTE5ZjM0ZmE2ZjExMzI2OGRjMjliOWVhNDRhMGM1ZTA3ZjE0ODY3MTdcIixcImhhc2hcIjpcImFlNTA4Yzk1Y2FkM2I2NTQ5NTFhNDk2OGZhYmViYzM2YzRiYmNjMmIyNGJiZWNlMzc2NTBjYmNiODgwNjQwNzZcIn0i',NULL,NULL,1795334499804,1795334499804,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',5,'entry','IntcIm51bWJlclwiOjYsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MTM0NDNaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYWN0ZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwib3V0cHV0XCI6e1wic3Rkb3V0XCI6XCJcIn0sXCJ0b29rXCI6NDYzODEwNX0sXCJwcmV2aW91c1wiOlwiYWU1MDhjOTVjYWQzYjY1NDk1MWE0OTY4ZmFiZWJjMzZjNGJiY2MyYjI0YmJlY2UzNzY1MGNiY2I4ODA2NDA3NlwiLFwiaGFzaFwiOlwiNzcxZTY5ZmRiOTcyNTNkYzk2OTQxNDlhOWJhMjhlNzA2ZGM5ODdjYmE2MGRhMDdhOTkwMmI5NjM2ZWNlMmU4MlwifSI=',NULL,NULL,1795334499813,1795334499813,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',6,'entry','IntcIm51bWJlclwiOjcsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MTQwNzZaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmVyaWZpZWRcIixcInN0ZXBcIjpcImFcIixcIm91dHB1dFwiOntcInN0ZG91dFwiOlwiXCJ9LFwidG9va1wiOjEzMjY1NH0sXCJwcmV2aW91c1wiOlwiNzcxZTY5ZmRiOTcyNTNkYzk2OTQxNDlhOWJhMjhlNzA2ZGM5ODdjYmE2MGRhMDdhOTkwMmI5NjM2ZWNlMmU4MlwiLFwiaGFzaFwiOlwiNzg2OTI5MTQzMzBkNTA4YjUwMGMxZDM1NWM3OTYzMTk2YTU4MjZlMTVmNzIzMzkzNmIxODAxNTg3NTVkNWM5NFwifSI=',NULL,NULL,1795334499814,1795334499814,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-edxskz/1',7,'entry','IntcIm51bWJlclwiOjgsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MTQ4MTJaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiZW5kZWRcIixcIm91dGNvbWVcIjpcImRvbmVcIn0sXCJwcmV2aW91c1wiOlwiNzg2OTI5MTQzMzBkNTA4YjUwMGMxZDM1NWM3OTYzMTk2YTU4MjZlMTVmNzIzMzkzNmIxODAxNTg3NTVkNWM5NFwiLFwiaGFzaFwiOlwiZjZkMDZjYzFmNTU5ZjYwNTRkOTUxZjMzY2FiMDVjMWYxMzE4ZmE5NzA5ZTA1YWMxODI4YTdmY2Q4ZGY2ZGJlMlwifSI=',NULL,NULL,1795334499814,1795334499815,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',0,'entry','IntcIm51bWJlclwiOjEsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44MzUxMjlaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYmVnYW5cIixcImhlYWRlclwiOntcInJ1bmJvb2tcIjpcInRlc3QvZ2F0ZWRcIixcImhhc2hcIjpcImRjMWE3OTJmOTQyNDZkOGIxMzFjOWNhNWExMjQ4NWNjNjM4YTBmZjY4M2IyMzRkZDI0MmFiMmJhODZiMTJlM2VcIixcInRleHRcIjpcIlxcbnJ1bmJvb2s6IHRlc3QvZ2F0ZWRcXG5nYXRlOiB7cmVoZWFyc2FsczogMn1cXG5zdGVwczpcXG4gIC0ge2lkOiBhLCB1c2VzOiBjb21tYW5kLCB3aXRoOiB7cnVuOiBcXFwidHJ1ZVxcXCIsIHJlcGVhdGFibGU6IHRydWV9fVxcblwiLFwidmVyc2lvbnNcIjp7XCJjb21tYW5kXCI6MX0sXCJpbnB1dHNcIjp7fSxcImNsdXN0ZXJcIjpcImxhYjFcIixcImVudmlyb25tZW50XCI6XCJsYWJcIixcInRvcG9sb2d5XCI6XCJtYW55XCIsXCJwcmltYXJ5XCI6XCJuMVwiLFwiYnlcIjpcImFublwiLFwiYXRcIjpcIjIwMjYtMTEtMjJUMDg6MDE6MzkuODE4Njg2NDcxWlwiLFwicGxhblwiOntcInJ1bmJvb2tcIjpcInRlc3QvZ2F0ZWRcIixcInN0ZXBzXCI6W3tcImtleVwiOlwiYVwiLFwidXNlc1wiOlwiY29tbWFuZFwiLFwidmVyc2lvblwiOjEsXCJlZmZlY3RcIjpcImlycmV2ZXJzaWJsZVwiLFwiaW5wdXRzXCI6e1wicmVwZWF0YWJsZVwiOnRydWUsXCJydW5cIjpcInRydWVcIn0sXCJzdGF0ZVwiOlwibmVlZGVkXCIsXCJpbnRlbmRlZFwiOntcInJ1blwiOlwidHJ1ZVwifSxcInJlYXNvblwiOlwidGhlcmUgaXMgbm8gY2hlY2s6IGl0IHJ1bnMgd2hlbmV2ZXIgaXRzIHN0ZXAgZG9lc1wifV0sXCJoYXNoXCI6XCI0ZWZhZmY3ZDE4YzY1NDM2XCJ9fX0sXCJwcmV2aW91c1wiOlwiXCIsXCJoYXNoXCI6XCJmMzM3NTFhMjNiYmZjN2Q1Mzk3ZGUzM2QxYzgyNzM4N2M5OTA1YjBkZjBkYmZiZmU5NjdlODQ4NDkxNjk3YTk3XCJ9Ig==',NULL,NULL,1795334499835,1795334499835,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',1,'entry','IntcIm51bWJlclwiOjIsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44NDQxNDlaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwib3BlbmVkXCIsXCJvcmRlclwiOntcImRvXCI6XCJydW5cIixcImJ5XCI6XCJhbm5cIn0sXCJob2xkZXJcIjpcInRlc3RcIixcImVwb2Noc1wiOntcImxhYjFcIjo0fX0sXCJwcmV2aW91c1wiOlwiZjMzNzUxYTIzYmJmYzdkNTM5N2RlMzNkMWM4MjczODdjOTkwNWIwZGYwZGJmYmZlOTY3ZTg0ODQ5MTY5N2E5N1wiLFwiaGFzaFwiOlwiZWQ2YzMzN2Q1NjFhZjcxMzg5ZTYzMjliN2MxY2ZiNmRiNGRlNmM0MTc2ZWE3OTI0ODdhYmVkYTMzM2QwZjAwZFwifSI=',NULL,NULL,1795334499844,1795334499847,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',2,'entry','IntcIm51bWJlclwiOjMsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44NDgzNTZaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmFsdWVkXCIsXCJzdGVwXCI6XCJhXCIsXCJpbnB1dHNcIjp7XCJyZXBlYXRhYmxlXCI6dHJ1ZSxcInJ1blwiOlwidHJ1ZVwifX0sXCJwcmV2aW91c1wiOlwiZWQ2YzMzN2Q1NjFhZjcxMzg5ZTYzMjliN2MxY2ZiNmRiNGRlNmM0MTc2ZWE3OTI0ODdhYmVkYTMzM2QwZjAwZFwiLFwiaGFzaFwiOlwiNmM0NmVjMDYxYTk0NGE0ZjFjNzBhNmQzZTcyYmVmYWRiMjMyNjU4ODY2ZjJjZjllYWFjMzE5MWYwMmNlMDJmMlwifSI=',NULL,NULL,1795334499848,1795334499848,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',3,'entry','IntcIm51bWJlclwiOjQsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44NDkyNzJaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiY2hlY2tlZFwiLFwic3RlcFwiOlwiYVwiLFwiZmluZGluZ1wiOntcInN0YXRlXCI6XCJuZWVkZWRcIixcImludGVuZGVkXCI6e1wicnVuXCI6XCJ0cnVlXCJ9LFwicmVhc29uXCI6XCJ0aGVyZSBpcyBubyBjaGVjazogaXQgcnVucyB3aGVuZXZlciBpdHMgc3RlcCBkb2VzXCJ9LFwidG9va1wiOjE3NTEzMn0sXCJwcmV2aW91c1wiOlwiNmM0NmVjMDYxYTk0NGE0ZjFjNzBhNmQzZTcyYmVmYWRiMjMyNjU4ODY2ZjJjZjllYWFjMzE5MWYwMmNlMDJmMlwiLFwiaGFzaFwiOlwiYWY1N2YzN2RjZTJmMmI4MGVhNjhmNzUxMGE3ODQ5MTdmNjNlNTMyNTVmYzI0ZTEyYzE5NDE4MmRkNzg1Y2E4M1wifSI=',NULL,NULL,1795334499849,1795334499849,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',4,'entry','IntcIm51bWJlclwiOjUsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44NTczNDNaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiaW50ZW5kZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwiZXBvY2hcIjo0LFwidG9rZW5cIjpcImdhdGVkLWZubm4yYS1kNzY3eWF0ZXhzXCJ9LFwicHJldmlvdXNcIjpcImFmNTdmMzdkY2UyZjJiODBlYTY4Zjc1MTBhNzg0OTE3ZjYzZTUzMjU1ZmMyNGUxMmMxOTQxODJkZDc4NWNhODNcIixcImhhc2hcIjpcImQwODExYzlkZTI5MTdiZmJmN2MzYjY0YjA1NmNlZGY2OTI0ZjNiNjhlMjdkZGExMzk2ZTZmMGRiNWQ3MjMwYzZcIn0i',NULL,NULL,1795334499857,1795334499857,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',5,'entry','IntcIm51bWJlclwiOjYsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44NzM0OTlaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYWN0ZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwib3V0cHV0XCI6e1wic3Rkb3V0XCI6XCJcIn0sXCJ0b29rXCI6MTQzMDI1OTd9LFwicHJldmlvdXNcIjpcImQwODExYzlkZTI5MTdiZmJmN2MzYjY0YjA1NmNlZGY2OTI0ZjNiNjhlMjdkZGExMzk2ZTZmMGRiNWQ3MjMwYzZcIixcImhhc2hcIjpcIjNjOTllMThkMWNiODAwNDM1Nzg1NmRjNTdkYTc4NzM4YWJmYzlhMWIwMmUzMWFlZTIwODEzMTUzNmM2NGI3NTdcIn0i',NULL,NULL,1795334499873,1795334499875,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',6,'entry','IntcIm51bWJlclwiOjcsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44Nzc0MzVaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmVyaWZpZWRcIixcInN0ZXBcIjpcImFcIixcIm91dHB1dFwiOntcInN0ZG91dFwiOlwiXCJ9LFwidG9va1wiOjk0NTM5fSxcInByZXZpb3VzXCI6XCIzYzk5ZTE4ZDFjYjgwMDQzNTc4NTZkYzU3ZGE3ODczOGFiZmM5YTFiMDJlMzFhZWUyMDgxMzE1MzZjNjRiNzU3XCIsXCJoYXNoXCI6XCI1NjA5Y2MwZDk1YTBjZmUyMTJiZGVlZTNmNTcxZWVjNzdlMDg2NjI2YzBjOTA4NTRhNzQ4Mzc1YmQwMzMzMWI5XCJ9Ig==',NULL,NULL,1795334499877,1795334499877,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('gated-fnnn2a/1',7,'entry','IntcIm51bWJlclwiOjgsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS44Nzc4NjFaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiZW5kZWRcIixcIm91dGNvbWVcIjpcImRvbmVcIn0sXCJwcmV2aW91c1wiOlwiNTYwOWNjMGQ5NWEwY2ZlMjEyYmRlZWUzZjU3MWVlYzc3ZTA4NjYyNmMwYzkwODU0YTc0ODM3NWJkMDMzMzFiOVwiLFwiaGFzaFwiOlwiMTUyZmM3ZmIwZDRhZGRiNDlmYmM4MzlhYzljZjY2OWJiYTE1MDNjNTQ3NDAwNjg0NmIyMDVjYjNmMTI4MmMwZFwifSI=',NULL,NULL,1795334499877,1795334499877,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',0,'entry','IntcIm51bWJlclwiOjEsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MTcxOTlaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYmVnYW5cIixcImhlYWRlclwiOntcInJ1bmJvb2tcIjpcInRlc3QvYXNrc1wiLFwiaGFzaFwiOlwiNDhkN2QwY2FkOWI1YjM4NTYyNjkzNjZlYjdhZDg4ZjZkYjY3NzUyMDc2OWQxN2NiZGY0MTQ5ZGFjZTA3ZDNmYVwiLFwidGV4dFwiOlwiXFxucnVuYm9vazogdGVzdC9hc2tzXFxuaW5wdXRzOiB7d29yZDoge2RlZmF1bHQ6IGhlbGxvfX1cXG5zdGVwczpcXG4gIC0ge2lkOiBhLCB1c2VzOiBjb21tYW5kLCB3aXRoOiB7cnVuOiBcXFwiZWNobyAke3sgaW5wdXRzLndvcmQgfX1cXFwiLCByZXBlYXRhYmxlOiB0cnVlfX1cXG4gIC0ge2lkOiBnbywgYXBwcm92YWw6IHtub3RlOiBcXFwiR28gb24gd2l0aCAke3sgc3RlcHMuYS5vdXRwdXQuc3Rkb3V0IH19P1xcXCIsIHRpbWVvdXQ6IDg3NjAwMGh9fVxcbiAgLSB7aWQ6IGIsIHVzZXM6IGNvbW1hbmQsIHdpdGg6IHtydW46IFxcXCJlY2hvICR7eyBzdGVwcy5hLm91dHB1dC5zdGRvdXQgfX1cXFwiLCByZXBlYXRhYmxlOiB0cnVlfX1cXG5cIixcInZlcnNpb25zXCI6e1wiY29tbWFuZFwiOjF9LFwiaW5wdXRzXCI6e1wid29yZFwiOlwiaGVsbG9cIn0sXCJjbHVzdGVyXCI6XCJsYWIyXCIsXCJlbnZpcm9ubWVudFwiOlwibGFiXCIsXCJ0b3BvbG9neVwiOlwibWFueVwiLFwicHJpbWFyeVwiOlwibjFcIixcImJ5XCI6XCJhbm5cIixcImF0XCI6XCIyMDI2LTExLTIyVDA4OjAxOjM5Ljg5MDMyNTUxOFpcIixcInBsYW5cIjp7XCJydW5ib29rXCI6XCJ0ZXN0L2Fza3NcIixcInN0ZXBzXCI6W3tcImtleVwiOlwiYVwiLFwidXNlc1wiOlwiY29tbWFuZFwiLFwidmVyc2lvblwiOjEsXCJlZmZlY3RcIjpcImlycmV2ZXJzaWJsZVwiLFwiaW5wdXRzXCI6e1wicmVwZWF0YWJsZVwiOnRydWUsXCJydW5cIjpcImVjaG8gaGVsbG9cIn0sXCJzdGF0ZVwiOlwibmVlZGVkXCIsXCJpbnRlbmRlZFwiOntcInJ1blwiOlwiZWNobyBoZWxsb1wifSxcInJlYXNvblwiOlwidGhlcmUgaXMgbm8gY2hlY2s6IGl0IHJ1bnMgd2hlbmV2ZXIgaXRzIHN0ZXAgZG9lc1wifSx7XCJrZXlcIjpcImdvXCIsXCJhcHByb3ZhbFwiOlwiR28gb24gd2l0aCAke3sgc3RlcHMuYS5vdXRwdXQuc3Rkb3V0IH19P1wifSx7XCJrZXlcIjpcImJcIixcInVzZXNcIjpcImNvbW1hbmRcIixcInZlcnNpb25cIjoxLFwibGF0ZXJcIjpbXCJhXCJdfV0sXCJoYXNoXCI6XCJlOGFkZGQyOTBiYjU2YTA2XCJ9fX0sXCJwcmV2aW91c1wiOlwiXCIsXCJoYXNoXCI6XCIyOTBmYTBjZDYwMTVmOWNiMzE5NTlmNjY1ZjFhNTY0ZDM5NTkwNTUyZDZmMWU1MmEzMWUxZTdjMGVlYTNiNmRjXCJ9Ig==',NULL,NULL,1795334499917,1795334499917,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',1,'entry','IntcIm51bWJlclwiOjIsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MjE5WlwiLFwiZGF0YVwiOntcImtpbmRcIjpcIm9wZW5lZFwiLFwib3JkZXJcIjp7XCJkb1wiOlwicnVuXCIsXCJieVwiOlwiYW5uXCJ9LFwiaG9sZGVyXCI6XCJ0ZXN0XCIsXCJlcG9jaHNcIjp7XCJsYWIyXCI6Mn19LFwicHJldmlvdXNcIjpcIjI5MGZhMGNkNjAxNWY5Y2IzMTk1OWY2NjVmMWE1NjRkMzk1OTA1NTJkNmYxZTUyYTMxZTFlN2MwZWVhM2I2ZGNcIixcImhhc2hcIjpcImY2ZmFjMDAxNzlhNDM0ODQ0ZmI0OTRmMjIyYzYwZThmNWZhNzI2MDM5ODU1ZjZjZTU4NmI3YTU1NzJjMGU2YmNcIn0i',NULL,NULL,1795334499921,1795334499923,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',2,'entry','IntcIm51bWJlclwiOjMsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MjM2MzNaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmFsdWVkXCIsXCJzdGVwXCI6XCJhXCIsXCJpbnB1dHNcIjp7XCJyZXBlYXRhYmxlXCI6dHJ1ZSxcInJ1blwiOlwiZWNobyBoZWxsb1wifX0sXCJwcmV2aW91c1wiOlwiZjZmYWMwMDE3OWE0MzQ4NDRmYjQ5NGYyMjJjNjBlOGY1ZmE3MjYwMzk4NTVmNmNlNTg2YjdhNTU3MmMwZTZiY1wiLFwiaGFzaFwiOlwiODQzZWZlNWE0Y2UyMjJmY2NkMWFhYmQ0MDFmNDkzNDU5MThmZTdiYTM4MWI2NWU2ZTkyNjBjY2ZmNzJlMzBlZFwifSI=',NULL,NULL,1795334499923,1795334499923,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',3,'entry','IntcIm51bWJlclwiOjQsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MjM5MzZaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiY2hlY2tlZFwiLFwic3RlcFwiOlwiYVwiLFwiZmluZGluZ1wiOntcInN0YXRlXCI6XCJuZWVkZWRcIixcImludGVuZGVkXCI6e1wicnVuXCI6XCJlY2hvIGhlbGxvXCJ9LFwicmVhc29uXCI6XCJ0aGVyZSBpcyBubyBjaGVjazogaXQgcnVucyB3aGVuZXZlciBpdHMgc3RlcCBkb2VzXCJ9LFwidG9va1wiOjM2NDYyfSxcInByZXZpb3VzXCI6XCI4NDNlZmU1YTRjZTIyMmZjY2QxYWFiZDQwMWY0OTM0NTkxOGZlN2JhMzgxYjY1ZTZlOTI2MGNjZmY3MmUzMGVkXCIsXCJoYXNoXCI6XCJjM2UwMDk2OWU3MDcyMTI2ZDJiYTA2M2RiNGQ5MDQ5NTUxNzVlNmJlMDg2MTQxOGJiMzA3YWU3MTZlZTJjYmI0XCJ9Ig==',NULL,NULL,1795334499923,1795334499924,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',4,'entry','IntcIm51bWJlclwiOjUsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MjU5MzlaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiaW50ZW5kZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwiZXBvY2hcIjoyLFwidG9rZW5cIjpcImFza3MtZWh5a2h1LXpvNzJmczRzdmVcIn0sXCJwcmV2aW91c1wiOlwiYzNlMDA5NjllNzA3MjEyNmQyYmEwNjNkYjRkOTA0OTU1MTc1ZTZiZTA4NjE0MThiYjMwN2FlNzE2ZWUyY2JiNFwiLFwiaGFzaFwiOlwiMzgyY2FjYjBiMDk5MjJiNTI0NDUwYmNkOTFhMmMxOGM3MmZmZTRlZjUwODI0MTYxOGFlZjdmNjFlNTRjMTdlOFwifSI=',NULL,NULL,1795334499925,1795334499929,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',5,'entry','IntcIm51bWJlclwiOjYsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MzIzNTRaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYWN0ZWRcIixcInN0ZXBcIjpcImFcIixcImF0dGVtcHRcIjoxLFwib3V0cHV0XCI6e1wic3Rkb3V0XCI6XCJoZWxsb1wifSxcInRvb2tcIjoyMjI0MTkyfSxcInByZXZpb3VzXCI6XCIzODJjYWNiMGIwOTkyMmI1MjQ0NTBiY2Q5MWEyYzE4YzcyZmZlNGVmNTA4MjQxNjE4YWVmN2Y2MWU1NGMxN2U4XCIsXCJoYXNoXCI6XCIzMjliMzMzMDE0MGIyMzVhNWM3YzJjZjgzOWZlODIwNDUwM2RkZmE0Yjc3NWJkNWQxM2RiNjhjYWNjMTQ4YzMxXCJ9Ig==',NULL,NULL,1795334499932,1795334499932,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',6,'entry','IntcIm51bWJlclwiOjcsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MzM4MzdaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmVyaWZpZWRcIixcInN0ZXBcIjpcImFcIixcIm91dHB1dFwiOntcInN0ZG91dFwiOlwiaGVsbG9cIn0sXCJ0b29rXCI6MzgyODc5fSxcInByZXZpb3VzXCI6XCIzMjliMzMzMDE0MGIyMzVhNWM3YzJjZjgzOWZlODIwNDUwM2RkZmE0Yjc3NWJkNWQxM2RiNjhjYWNjMTQ4YzMxXCIsXCJoYXNoXCI6XCJhYjlkOTNlMzZjZjg2MzljNDNkYjY0ZmFjZjVhMThmNWM5MmVmYTM4ZjU4ZDA3M2MyMTk2MmY1MmVmZjFlNTM0XCJ9Ig==',NULL,NULL,1795334499933,1795334499933,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',7,'entry','IntcIm51bWJlclwiOjgsXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MzQxNDVaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwidmFsdWVkXCIsXCJzdGVwXCI6XCJnb1wifSxcInByZXZpb3VzXCI6XCJhYjlkOTNlMzZjZjg2MzljNDNkYjY0ZmFjZjVhMThmNWM5MmVmYTM4ZjU4ZDA3M2MyMTk2MmY1MmVmZjFlNTM0XCIsXCJoYXNoXCI6XCJlMTc0MjVkNmRjNzkxMDU4Mjg2ZDU0ZjY3MTBlNmU2NGMwZTkwZjMyYzgxMjFjMWZlOGRjZGZmMjAyNGI1MTJkXCJ9Ig==',NULL,NULL,1795334499934,1795334499934,'DBOS_JSON','plimsoll');
INSERT INTO "operation_outputs" VALUES('asks-ehykhu/1',8,'entry','IntcIm51bWJlclwiOjksXCJzdGludFwiOjEsXCJhdFwiOlwiMjAyNi0xMS0yMlQwODowMTozOS45MzQ1MjRaXCIsXCJkYXRhXCI6e1wia2luZFwiOlwiYXNrZWRcIixcInN0ZXBcIjpcImdvXCIsXCJ1bnRpbFwiOlwiMjEyNi0xMC0yOVQwODowMTozOS45MzQ0ODUwNzJaXCIsXCJub3RlXCI6XCJHbyBvbiB3aXRoIGhlbGxvP1wiLFwiY291bnRcIjoxLFwicGxhblwiOlwiZThhZGRkMjkwYmI1NmEwNlwifSxcInByZXZpb3VzXCI6XCJlMTc0MjVkNmRjNzkxMDU4Mjg2ZDU0ZjY3MTBlNmU2NGMwZTkwZjMyYzgxMjFjMWZlOGRjZGZmMjAyNGI1MTJkXCIsXCJoYXNoXCI6XCJmMjNlZjZiY2Q0OTkxZWNmODI2Y2FkYjEyYTU4ZmI2ZjlhY2RkNWUyYTE5NjExMDVjOTFjZWZiYzU4MjM4MDllXCJ9Ig==',NULL,NULL,1795334499934,1795334499934,'DBOS_JSON','plimsoll');
CREATE TABLE plimsoll_format (number BIGINT NOT NULL);
INSERT INTO "plimsoll_format" VALUES(2);
CREATE TABLE plimsoll_heads (run TEXT PRIMARY KEY, number BIGINT NOT NULL, hash TEXT NOT NULL);
INSERT INTO "plimsoll_heads" VALUES('gated-edxskz',8,'f6d06cc1f559f6054d951f33cab05c1f1318fa9709e05ac1828a7fcd8df6dbe2');
INSERT INTO "plimsoll_heads" VALUES('gated-fnnn2a',8,'152fc7fb0d4addb49fbc839ac9cf669bba1503c5474006846b205cb3f1282c0d');
INSERT INTO "plimsoll_heads" VALUES('asks-ehykhu',9,'f23ef6bcd4991ecf826cadb12a58fb6f9acdd5e2a1961105c91cefbc5823809e');
CREATE TABLE plimsoll_leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch BIGINT NOT NULL, expires BIGINT NOT NULL);
INSERT INTO "plimsoll_leases" VALUES('cluster lab1','',4,1795334504859271);
INSERT INTO "plimsoll_leases" VALUES('cluster lab2','asks-ehykhu',2,1795334520180415);
CREATE TABLE plimsoll_messages (run TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE plimsoll_records (kind TEXT NOT NULL, name TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (kind, name, number));
INSERT INTO "plimsoll_records" VALUES('timing','test/gated',1,1795334499815323,'{"a":0.004841651}');
INSERT INTO "plimsoll_records" VALUES('rehearsal','test/gated',1,1795334499818361,'{"trial":"trial","run":"gated-edxskz","passed":true,"at":"2026-11-22T08:01:39.818348971Z","hash":"dc1a792f94246d8b131c9ca5a12485cc638a0ff683b234dd242ab2ba86b12e3e","versions":{"command":1},"product":"","minor":"","topology":"many","took":{"a":0.004841651}}');
INSERT INTO "plimsoll_records" VALUES('timing','test/gated',2,1795334499878194,'{"a":0.014572268}');
INSERT INTO "plimsoll_records" VALUES('rehearsal','test/gated',2,1795334499887152,'{"trial":"trial","run":"gated-fnnn2a","passed":true,"at":"2026-11-22T08:01:39.8871346Z","hash":"dc1a792f94246d8b131c9ca5a12485cc638a0ff683b234dd242ab2ba86b12e3e","versions":{"command":1},"product":"","minor":"","topology":"many","took":{"a":0.014572268}}');
CREATE TABLE plimsoll_runs (run TEXT PRIMARY KEY, created BIGINT NOT NULL, executor TEXT NOT NULL, stints BIGINT NOT NULL DEFAULT 0, header TEXT NOT NULL);
INSERT INTO "plimsoll_runs" VALUES('gated-edxskz',1795334499763079,'local',1,'{"runbook":"test/gated","hash":"dc1a792f94246d8b131c9ca5a12485cc638a0ff683b234dd242ab2ba86b12e3e","text":"\nrunbook: test/gated\ngate: {rehearsals: 2}\nsteps:\n  - {id: a, uses: command, with: {run: \"true\", repeatable: true}}\n","versions":{"command":1},"inputs":{},"cluster":"lab1","environment":"lab","topology":"many","primary":"n1","by":"ann","at":"2026-11-22T08:01:39.754614419Z","plan":{"runbook":"test/gated","steps":[{"key":"a","uses":"command","version":1,"effect":"irreversible","inputs":{"repeatable":true,"run":"true"},"state":"needed","intended":{"run":"true"},"reason":"there is no check: it runs whenever its step does"}],"hash":"4efaff7d18c65436"}}');
INSERT INTO "plimsoll_runs" VALUES('gated-fnnn2a',1795334499820100,'local',1,'{"runbook":"test/gated","hash":"dc1a792f94246d8b131c9ca5a12485cc638a0ff683b234dd242ab2ba86b12e3e","text":"\nrunbook: test/gated\ngate: {rehearsals: 2}\nsteps:\n  - {id: a, uses: command, with: {run: \"true\", repeatable: true}}\n","versions":{"command":1},"inputs":{},"cluster":"lab1","environment":"lab","topology":"many","primary":"n1","by":"ann","at":"2026-11-22T08:01:39.818686471Z","plan":{"runbook":"test/gated","steps":[{"key":"a","uses":"command","version":1,"effect":"irreversible","inputs":{"repeatable":true,"run":"true"},"state":"needed","intended":{"run":"true"},"reason":"there is no check: it runs whenever its step does"}],"hash":"4efaff7d18c65436"}}');
INSERT INTO "plimsoll_runs" VALUES('asks-ehykhu',1795334499897427,'local',1,'{"runbook":"test/asks","hash":"48d7d0cad9b5b3856269366eb7ad88f6db677520769d17cbdf4149dace07d3fa","text":"\nrunbook: test/asks\ninputs: {word: {default: hello}}\nsteps:\n  - {id: a, uses: command, with: {run: \"echo ${{ inputs.word }}\", repeatable: true}}\n  - {id: go, approval: {note: \"Go on with ${{ steps.a.output.stdout }}?\", timeout: 876000h}}\n  - {id: b, uses: command, with: {run: \"echo ${{ steps.a.output.stdout }}\", repeatable: true}}\n","versions":{"command":1},"inputs":{"word":"hello"},"cluster":"lab2","environment":"lab","topology":"many","primary":"n1","by":"ann","at":"2026-11-22T08:01:39.890325518Z","plan":{"runbook":"test/asks","steps":[{"key":"a","uses":"command","version":1,"effect":"irreversible","inputs":{"repeatable":true,"run":"echo hello"},"state":"needed","intended":{"run":"echo hello"},"reason":"there is no check: it runs whenever its step does"},{"key":"go","approval":"Go on with ${{ steps.a.output.stdout }}?"},{"key":"b","uses":"command","version":1,"later":["a"]}],"hash":"e8addd290bb56a06"}}');
CREATE TABLE plimsoll_summaries (run TEXT PRIMARY KEY, at BIGINT NOT NULL, data TEXT NOT NULL);
INSERT INTO "plimsoll_summaries" VALUES('gated-edxskz',1795334499815753,'{"status":"done","share":1}');
INSERT INTO "plimsoll_summaries" VALUES('gated-fnnn2a',1795334499880429,'{"status":"done","share":1}');
INSERT INTO "plimsoll_summaries" VALUES('asks-ehykhu',1795334515925011,'{"status":"asking","position":"go","share":0.5}');
CREATE TABLE queues (
    queue_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    concurrency INTEGER,
    worker_concurrency INTEGER,
    rate_limit_max INTEGER,
    rate_limit_period_sec REAL,
    priority_enabled BOOLEAN NOT NULL DEFAULT FALSE,
    partition_queue BOOLEAN NOT NULL DEFAULT FALSE,
    polling_interval_sec REAL NOT NULL DEFAULT 1.0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
, "application_name" TEXT DEFAULT NULL);
CREATE TABLE streams (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    "offset" INTEGER NOT NULL, function_id INTEGER NOT NULL DEFAULT 0, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key, "offset"),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_events (
    workflow_uuid TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_events_history (
    workflow_uuid TEXT NOT NULL,
    function_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL, "serialization" TEXT DEFAULT NULL,
    PRIMARY KEY (workflow_uuid, function_id, key),
    FOREIGN KEY (workflow_uuid) REFERENCES workflow_status(workflow_uuid)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE workflow_schedules (
    schedule_id TEXT PRIMARY KEY,
    schedule_name TEXT NOT NULL UNIQUE,
    workflow_name TEXT NOT NULL,
    workflow_class_name TEXT,
    schedule TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'ACTIVE',
    context TEXT NOT NULL
, "last_fired_at" TEXT DEFAULT NULL, "automatic_backfill" BOOLEAN NOT NULL DEFAULT FALSE, "cron_timezone" TEXT DEFAULT NULL, "queue_name" TEXT DEFAULT NULL, "application_name" TEXT DEFAULT NULL);
CREATE TABLE workflow_status (
    workflow_uuid TEXT PRIMARY KEY,
    status TEXT,
    name TEXT,
    authenticated_user TEXT,
    assumed_role TEXT,
    authenticated_roles TEXT,
    request TEXT,
    output TEXT,
    error TEXT,
    executor_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    application_version TEXT,
    application_id TEXT,
    class_name TEXT DEFAULT NULL,
    config_name TEXT DEFAULT NULL,
    recovery_attempts INTEGER DEFAULT 0,
    queue_name TEXT,
    workflow_timeout_ms INTEGER,
    workflow_deadline_epoch_ms INTEGER,
    inputs TEXT,
    started_at_epoch_ms INTEGER,
    deduplication_id TEXT,
    priority INTEGER NOT NULL DEFAULT 0
, queue_partition_key TEXT, forked_from TEXT, "owner_xid" TEXT DEFAULT NULL, "parent_workflow_id" TEXT DEFAULT NULL, "serialization" TEXT DEFAULT NULL, "delay_until_epoch_ms" INTEGER DEFAULT NULL, "was_forked_from" BOOLEAN NOT NULL DEFAULT FALSE, "rate_limited" BOOLEAN NOT NULL DEFAULT FALSE, "completed_at" BIGINT, "attributes" TEXT, "schedule_name" TEXT, "debounce_deadline_epoch_ms" INTEGER DEFAULT NULL, "is_debounced" BOOLEAN NOT NULL DEFAULT FALSE, "application_name" TEXT DEFAULT NULL);
INSERT INTO "workflow_status" VALUES('gated-edxskz/1','SUCCESS','stint','','',X'6E756C6C',NULL,'IiI=','','local',1795334499780,1795334499815,'1','',NULL,NULL,1,NULL,NULL,NULL,'eyJSdW4iOiJnYXRlZC1lZHhza3oiLCJTdGludCI6MSwiRGF0YSI6IntcImRvXCI6XCJydW5cIixcImJ5XCI6XCJhbm5cIn0ifQ==',NULL,NULL,0,NULL,NULL,'c779359f-fbbd-4d6f-b0b6-be111fe9a9f7',NULL,'DBOS_JSON',NULL,0,0,1795334499815,NULL,NULL,NULL,0,'plimsoll');
INSERT INTO "workflow_status" VALUES('gated-fnnn2a/1','SUCCESS','stint','','',X'6E756C6C',NULL,'IiI=','','local',1795334499828,1795334499881,'1','',NULL,NULL,1,NULL,NULL,NULL,'eyJSdW4iOiJnYXRlZC1mbm5uMmEiLCJTdGludCI6MSwiRGF0YSI6IntcImRvXCI6XCJydW5cIixcImJ5XCI6XCJhbm5cIn0ifQ==',NULL,NULL,0,NULL,NULL,'271b3dba-3d07-4cb2-83ca-daf13e3a35ba',NULL,'DBOS_JSON',NULL,0,0,1795334499881,NULL,NULL,NULL,0,'plimsoll');
INSERT INTO "workflow_status" VALUES('asks-ehykhu/1','PENDING','stint','','',X'6E756C6C',NULL,NULL,NULL,'local',1795334499905,1795334499905,'1','',NULL,NULL,1,NULL,NULL,NULL,'eyJSdW4iOiJhc2tzLWVoeWtodSIsIlN0aW50IjoxLCJEYXRhIjoie1wiZG9cIjpcInJ1blwiLFwiYnlcIjpcImFublwifSJ9',NULL,NULL,0,NULL,NULL,'d767452c-8056-41fa-84b5-75f052caf350',NULL,'DBOS_JSON',NULL,0,0,NULL,NULL,NULL,NULL,0,'plimsoll');
CREATE INDEX workflow_status_created_at_index ON workflow_status (created_at);
CREATE INDEX idx_workflow_topic ON notifications (destination_uuid, topic);
CREATE INDEX "idx_notifications" ON "notifications" ("destination_uuid", "topic");
CREATE INDEX "idx_workflow_status_delayed" ON "workflow_status" ("delay_until_epoch_ms")
    WHERE status = 'DELAYED';
CREATE INDEX "idx_operation_outputs_completed_at_function_name"
    ON "operation_outputs" ("completed_at_epoch_ms", "function_name");
CREATE INDEX "idx_workflow_status_forked_from"
    ON "workflow_status" ("forked_from")
    WHERE "forked_from" IS NOT NULL;
CREATE INDEX "idx_workflow_status_parent_workflow_id"
    ON "workflow_status" ("parent_workflow_id")
    WHERE "parent_workflow_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_workflow_status_dedup_id"
    ON "workflow_status" ("queue_name", "deduplication_id")
    WHERE "deduplication_id" IS NOT NULL;
CREATE INDEX "idx_workflow_status_pending"
    ON "workflow_status" ("created_at")
    WHERE "status" = 'PENDING';
CREATE INDEX "idx_workflow_status_failed"
    ON "workflow_status" ("status", "created_at")
    WHERE "status" IN ('ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED');
CREATE INDEX "idx_workflow_status_in_flight"
    ON "workflow_status" ("queue_name", "status", "priority", "created_at")
    WHERE "status" IN ('ENQUEUED', 'PENDING');
CREATE INDEX "idx_workflow_status_rate_limited"
    ON "workflow_status" ("queue_name", "started_at_epoch_ms")
    WHERE "rate_limited" = TRUE;
CREATE INDEX "idx_workflow_status_completed_at" ON "workflow_status" ("completed_at") WHERE "completed_at" IS NOT NULL;
CREATE INDEX "idx_workflow_status_started_at" ON "workflow_status" ("started_at_epoch_ms") WHERE "started_at_epoch_ms" IS NOT NULL;
CREATE INDEX "idx_workflow_status_schedule_name" ON "workflow_status" ("schedule_name") WHERE "schedule_name" IS NOT NULL;
CREATE INDEX "idx_workflow_status_partition_dequeue_v2"
    ON "workflow_status" ("queue_name", "status", "queue_partition_key", "priority", "created_at", "workflow_uuid")
    WHERE "status" IN ('ENQUEUED', 'PENDING') AND "queue_partition_key" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_owner_version"
    ON "application_versions" ("application_name", "version_name")
    WHERE "application_name" IS NOT NULL;
CREATE UNIQUE INDEX "uq_application_versions_unclaimed_version"
    ON "application_versions" ("version_name")
    WHERE "application_name" IS NULL;
COMMIT;
