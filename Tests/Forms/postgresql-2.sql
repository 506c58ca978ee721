CREATE SCHEMA sequencing_oauth;
CREATE TABLE sequencing_oauth.store (version integer NOT NULL);
CREATE TABLE sequencing_oauth.keys (
  number integer PRIMARY KEY, header bytea NOT NULL);
CREATE TABLE sequencing_oauth.accounts (
  id bytea PRIMARY KEY, version bigint NOT NULL,
  key_number integer NOT NULL REFERENCES sequencing_oauth.keys, value bytea NOT NULL,
  server bytea NOT NULL, due timestamptz,
  user_digest bytea, session_digest bytea, digests_of bigint);
CREATE INDEX accounts_due ON sequencing_oauth.accounts (server, due)
  WHERE due IS NOT NULL;
CREATE INDEX accounts_user ON sequencing_oauth.accounts (user_digest);
CREATE INDEX accounts_session ON sequencing_oauth.accounts (session_digest);
CREATE INDEX accounts_unnoted ON sequencing_oauth.accounts (id)
  WHERE digests_of IS DISTINCT FROM version;
CREATE TABLE sequencing_oauth.leases (
  id bytea PRIMARY KEY, ticket bytea NOT NULL, holder text NOT NULL,
  until timestamptz NOT NULL, sent boolean NOT NULL, timeline text NOT NULL);
CREATE TABLE sequencing_oauth.pauses (
  server bytea PRIMARY KEY, until timestamptz NOT NULL, failures integer NOT NULL,
  asking boolean NOT NULL DEFAULT false);
CREATE TABLE sequencing_oauth.registrations (
  server bytea PRIMARY KEY, key_number integer NOT NULL REFERENCES sequencing_oauth.keys,
  value bytea NOT NULL);
CREATE TABLE sequencing_oauth.used (
  value bytea PRIMARY KEY, ticket bytea NOT NULL, until timestamptz NOT NULL);
CREATE INDEX used_until ON sequencing_oauth.used (until);
INSERT INTO sequencing_oauth.store VALUES (2);
INSERT INTO sequencing_oauth.keys VALUES (1,
  decode('7b22636865636b73756d223a22383966343538383034356532343939643665363837303063343832'
  '39303961636438643939636461643039336235613231633631353133386265376636633964222c22'
  '6b6466223a7b226e616d65223a22686b64662d736861323536222c2273616c74223a223366396263'
  '30353032373139633338363736633864336438353262623866623332336231316130313431383064'
  '62623839613831643262336164313035643134227d2c227665726966696572223a22663630353135'
  '33323238383337363239646635613763616337356136346164643934616234363839353930326330'
  '376161653264323931333364386531653162222c2276657273696f6e223a317d', 'hex'));
INSERT INTO sequencing_oauth.accounts VALUES ('alice'::bytea, 1795728261956158, 1,
  decode('47fc69dd3c3baa273f15010b941aef4f5ce191d098d70bf3136272e5311f33dbd8f8c42accfe9ca0'
  '69a288eb18f9bc38e7eb09c4a803317fdbc44b3ae8cb5406fd7c87e8e3acea6fa8052dc95f7f5694'
  '82a7c515fcc3e6b5724b60e7a662105cec693b3c2cf2bef68fc0ce6085b089c4714e97ea908882b5'
  '2180f1dadb9bbd90eb14b268b9ca17ddcd2b11474b56fb7654900531342edb7d085cd22f461a317b'
  '80b49cb46dd2abd0ae56280cc70596c58590f5d198fe9e50a9510dedeb9bc6f3c85c391f7bba738a'
  '8cb0d967e6a9f48b0f01d119f26ce4136ff7166a17730301e25baf265d0cf01d1350e40f3a05e0c6'
  '7a6d007fa3c94d55b6f7cbcb16bcea57e4097c616e1a367771d6affed98b3f45ab79fe711d931c3d'
  '0a72f0ec', 'hex'),
  decode('c1d1222ce369dd29', 'hex'), to_timestamp(1750003570),
  ''::bytea, ''::bytea, 1795728261956158);
