-- The tables of the file service. Who may do what with buckets and objects is for the project's policies to say; as with the
-- vendor there are none at first, so that only the service key gets through.

create table if not exists storage.buckets (
  id text primary key,
  name text not null unique,
  owner uuid,
  owner_id text,
  public boolean not null default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  type text not null default 'STANDARD',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create table if not exists storage.objects (
  id uuid primary key default gen_random_uuid(),
  bucket_id text not null references storage.buckets,
  name text collate "C" not null,
  owner uuid,
  owner_id text,
  version text,
  metadata jsonb,
  user_metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_accessed_at timestamptz not null default now(),
  unique (bucket_id, name)
);
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role;

-- What local servers had of their own before.
drop policy if exists local_owner_read on storage.objects;
drop policy if exists local_owner_add on storage.objects;
drop policy if exists local_owner_change on storage.objects;
drop policy if exists local_owner_remove on storage.objects;

-- Contents that nothing points to any more, however that came about.
create table if not exists storage.discarded (version text not null);
grant all on storage.discarded to service_role;
create or replace function storage.discard() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if old.version is not null and (tg_op = 'DELETE' or new.version is distinct from old.version) then
    insert into storage.discarded values (old.version);
  end if;
  return null;
end $$;
create or replace trigger objects_discard after update or delete on storage.objects
  for each row execute function storage.discard();

-- What policies are written with.
create or replace function storage.foldername(name text) returns text[] language sql immutable as $$
  select (string_to_array(name, '/'))[1:array_length(string_to_array(name, '/'), 1) - 1]
$$;
create or replace function storage.filename(name text) returns text language sql immutable as $$
  select regexp_replace(name, '^.*/', '')
$$;
create or replace function storage.extension(name text) returns text language sql immutable as $$
  select reverse(split_part(reverse(storage.filename(name)), '.', 1))
$$;
