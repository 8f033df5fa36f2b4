-- What a project of the vendor has before anybody has made anything in it: roles, schemas, and functions that say who asks.

do $$
declare
  service text;
begin
  -- The vendor's own services and people. Here nobody signs in as them: migrations give them rights and things to own.
  foreach service in array array['supabase_admin', 'supabase_auth_admin', 'supabase_storage_admin',
    'supabase_realtime_admin', 'dashboard_user']
  loop
    if not exists (select from pg_roles where rolname = service) then
      execute format('create role %I nologin noinherit', service);
    end if;
  end loop;
  if not exists (select from pg_roles where rolname = 'anon') then
    create role anon nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'authenticated') then
    create role authenticated nologin noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'service_role') then
    create role service_role nologin noinherit bypassrls;
  end if;
  -- As whom clients' requests arrive; it may do nothing itself, and takes the role that a token names.
  if not exists (select from pg_roles where rolname = 'authenticator') then
    create role authenticator login noinherit;
  end if;
end $$;
alter role authenticator login;
alter role service_role bypassrls;
grant anon, authenticated, service_role to authenticator;

create schema if not exists extensions;
create schema if not exists auth;
create schema if not exists storage;
create schema if not exists realtime;
grant usage on schema public, extensions, auth, storage, realtime to anon, authenticated, service_role;

-- Migrations and seeds call the functions of extensions by their bare names.
do $$
begin
  if not exists (select from pg_available_extensions where name = 'pgcrypto') then
    raise exception 'PostgreSQL has no module “pgcrypto”, which stores passwords. Install the package postgresql-contrib.';
  end if;
  create extension if not exists pgcrypto with schema extensions;
  if exists (select from pg_available_extensions where name = 'uuid-ossp') then
    if not exists (select from pg_extension where extname = 'uuid-ossp') then
      drop function if exists extensions.uuid_generate_v4();
      create extension "uuid-ossp" with schema extensions;
    end if;
  else
    -- The one function that nearly all use. A migration that creates the extension fails, and says what is missing.
    create or replace function extensions.uuid_generate_v4() returns uuid language sql volatile
      as 'select gen_random_uuid()';
  end if;
  if not exists (
    select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) setting
    where d.datname = current_database() and s.setrole = 0 and setting like 'search\_path=%')
  then
    execute format('alter database %I set search_path to "$user", public, extensions', current_database());
  end if;
end $$;

-- Tables that are made from now on are everybody's: what people see in them is for row-level security to say.
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;

create or replace function auth.jwt() returns jsonb language sql stable as $$
  select nullif(current_setting('request.jwt.claims', true), '')::jsonb
$$;

create or replace function auth.uid() returns uuid language sql stable as $$
  select (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid
$$;

create or replace function auth.role() returns text language sql stable as $$
  select nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'
$$;

create or replace function auth.email() returns text language sql stable as $$
  select nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
$$;
