-- Tables, and who may see what is in them.
--
-- Clients call the functions `switchyard_…` in `public` and nothing else. Those ask the rules in `switchyard.rules`
-- themselves, so that conditions on fields can use indexes; the policies on the tables say the same to everybody else.

do $$
declare
  wanted text;
begin
  -- A Supabase project has these; a bare database gets them, without a right to log in.
  foreach wanted in array array['anon', 'authenticated', 'service_role'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin%s', wanted, case wanted when 'service_role' then ' bypassrls' else '' end);
    end if;
  end loop;
end $$;
grant usage on schema switchyard to anon, authenticated, service_role;

-- `version` is the writing transaction: what a listener has not seen is what transactions wrote that had not ended when
-- it looked last. Numbers from a sequence could not say that; they become visible out of their order.
create table if not exists switchyard.documents (
  path          text collate "C" primary key check (path ~ '^[^/]+/[^/]+(/[^/]+/[^/]+)*$' and octet_length(path) <= 900),
  place         bytea not null generated always as (switchyard.place(path)) stored,
  collection    text collate "C" not null generated always as (regexp_replace(path, '/[^/]+$', '')) stored,
  collection_id text collate "C" not null generated always as (substring(path from '([^/]+)/[^/]+$')) stored,
  data          jsonb not null check (jsonb_typeof(data) = 'object'),
  owner         text,
  version       xid8 not null default pg_current_xact_id(),
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
create index if not exists documents_collection on switchyard.documents (collection, place);
create index if not exists documents_group on switchyard.documents (collection_id, place);
create index if not exists documents_place on switchyard.documents (place);
create index if not exists documents_changes on switchyard.documents (collection_id, version);
create index if not exists documents_values on switchyard.documents using gin (data jsonb_path_ops);

-- Where a document was, so that listeners who come back learn that it is gone.
create table if not exists switchyard.deletions (
  path          text collate "C" primary key,
  place         bytea not null,
  collection    text collate "C" not null,
  collection_id text collate "C" not null,
  owner         text,
  version       xid8 not null default pg_current_xact_id(),
  deleted_at    timestamptz not null
);
create index if not exists deletions_changes on switchyard.deletions (collection_id, version);

-- Batches that took effect, by their names and whose they were: one that is sent again is answered, not carried out.
create table if not exists switchyard.batches (
  id      text not null,
  owner   text not null,
  answer  jsonb not null,
  kept_at timestamptz not null default clock_timestamp(),
  primary key (id, owner)
);

-- Who may read and write the documents of a collection, by the collection's last segment. Without a row: `owner`.
create table if not exists switchyard.rules (
  collection_id text primary key,
  read  text not null default 'owner' check (read  in ('none', 'owner', 'authenticated', 'public')),
  write text not null default 'owner' check (write in ('none', 'owner', 'authenticated', 'public'))
);

-- One row. `epoch` names this database's numbering of transactions, which a restored copy does not continue. Deletions
-- and answers are kept for `keep`; listeners older than `forgotten` begin anew.
create table if not exists switchyard.settings (
  only_one  boolean primary key default true check (only_one),
  schema    int not null,
  epoch     uuid not null default gen_random_uuid(),
  keep      interval not null default interval '30 days',
  forgotten xid8 not null default '0'
);
-- Since version 2: the oldest clients that these functions still serve.
alter table switchyard.settings add column if not exists serves int not null default 1;

-- Who is calling. Text, for not every issuer of tokens names people by UUIDs.
create or replace function switchyard.caller() returns text
language sql stable as $$
  select nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub', '')
$$;

-- Whether the caller stands above all rules, as a project's own server does. Every call asks this and what follows: in
-- PL/pgSQL, since plans of functions in SQL are forgotten with each call.
create or replace function switchyard.is_trusted() returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return (select r.rolbypassrls or r.rolsuper from pg_catalog.pg_roles r
          where r.rolname = coalesce(nullif(current_setting('role', true), 'none'), session_user::text));
end $$;

-- The collections whose documents the caller may read or write whosever they are, and those it may not even then.
create or replace function switchyard.open_to_caller(deed text) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return (select coalesce(array_agg(r.collection_id), '{}') from switchyard.rules r
          where case deed when 'read' then r.read else r.write end
            = any (case when switchyard.caller() is null then array['public'] else array['public', 'authenticated'] end));
end $$;

create or replace function switchyard.closed(deed text) returns text[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return (select coalesce(array_agg(r.collection_id), '{}') from switchyard.rules r
          where case deed when 'read' then r.read else r.write end = 'none');
end $$;

-- The caller's reading rule for rows of `d`, with constants in it, so that it spoils no plan.
create or replace function switchyard.readable() returns text
language plpgsql stable set search_path = '' as $$
begin
  if switchyard.is_trusted() then return 'true'; end if;
  return format('((d.owner = %L and d.collection_id <> all (%L::text[])) or d.collection_id = any (%L::text[]))',
                switchyard.caller(), switchyard.closed('read'), switchyard.open_to_caller('read'));
end $$;

create or replace function switchyard.may_write(collection_id text, owner text) returns boolean
language sql stable set search_path = '' as $$
  select coalesce(switchyard.is_trusted() or collection_id = any (switchyard.open_to_caller('write'))
    or (owner = switchyard.caller() and collection_id <> all (switchyard.closed('write'))), false)
$$;

alter table switchyard.documents enable row level security;
alter table switchyard.deletions enable row level security;
alter table switchyard.batches enable row level security;
alter table switchyard.rules enable row level security;
alter table switchyard.settings enable row level security;
grant select on switchyard.documents to anon, authenticated;
grant all on all tables in schema switchyard to service_role;
drop policy if exists documents_read on switchyard.documents;
create policy documents_read on switchyard.documents for select using (
  (owner = (select switchyard.caller()) and collection_id <> all ((select switchyard.closed('read'))::text[]))
  or collection_id = any ((select switchyard.open_to_caller('read'))::text[]));
