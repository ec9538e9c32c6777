import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { CONFIGURATION_SCHEMA } from '../../core/configuration/schema.js';
import { trustingAjv } from '../../core/schema.js';
import lineSchema from '../../docs/schema/proxy-line-1.schema.json' with { type: 'json' };
import statusSchema from '../../docs/schema/proxy-status-1.schema.json' with { type: 'json' };
import verifySchema from '../../docs/schema/verify-1.schema.json' with { type: 'json' };
import { HOST_PROFILE_SCHEMA } from '../../profiles/parse-host-profile.js';

const schemas = { CONFIGURATION_SCHEMA, HOST_PROFILE_SCHEMA, lineSchema, statusSchema, verifySchema };

t.test('our schemas are taken on trust at run time, so they are held to the meta-schema here', async (t) => {
  const ajv = new Ajv2020();
  for (const [name, schema] of Object.entries(schemas)) {
    t.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`);
  }
  t.notOk(ajv.validateSchema({ type: 'objekt' }), 'a wrong one would be seen');
});

t.test('trust is in schemas, not in data', async (t) => {
  const validate = trustingAjv().compile({ type: 'object', required: ['a'], properties: { a: { type: 'integer' } } });
  t.ok(validate({ a: 1 }));
  t.notOk(validate({ a: 'x' }));
  t.notOk(validate({}));
});
