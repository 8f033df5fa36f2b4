-- Since version 4: installations of apps, whose they are, and what a project's own function needs to reach them by the
-- platform's push service. Clients register by functions; a server reads the table with the service key.

create table if not exists switchyard.installations (
  id         text primary key check (octet_length(id) between 16 and 64),
  owner      text not null,
  service    text check (octet_length(service) <= 64),
  token      text check (octet_length(token) <= 4096),
  updated_at timestamptz not null default clock_timestamp(),
  check ((service is null) = (token is null))
);
create index if not exists installations_owner on switchyard.installations (owner);
create unique index if not exists installations_token on switchyard.installations (md5(token), service) where token is not null;
alter table switchyard.installations enable row level security;
grant select on switchyard.installations to authenticated;
grant all on switchyard.installations to service_role;
drop policy if exists installations_read on switchyard.installations;
create policy installations_read on switchyard.installations for select to authenticated
  using (owner = (select switchyard.caller()));

-- The installation is the caller's from now on. Its name is known to nobody else, so it may have been somebody else's
-- before; a platform's token is that of one installation.
create or replace function public.switchyard_register(
  installation text, service text default null, token text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if switchyard.caller() is null then raise exception 'nobody is signed in' using errcode = '42501'; end if;
  if switchyard_register.token is not null then
    delete from switchyard.installations i where md5(i.token) = md5(switchyard_register.token)
      and i.service = switchyard_register.service and i.id <> installation;
  end if;
  insert into switchyard.installations as i (id, owner, service, token)
    values (installation, switchyard.caller(), switchyard_register.service, switchyard_register.token)
    on conflict (id) do update set owner = excluded.owner, service = excluded.service, token = excluded.token,
      updated_at = clock_timestamp();
end $$;

-- Also for whoever has signed out meanwhile: who knows the name may end the registration.
create or replace function public.switchyard_unregister(installation text) returns void
language sql volatile security definer set search_path = '' as $$
  delete from switchyard.installations i where i.id = installation
$$;

-- Whether the caller may hear what is sent to a topic of the realtime service.
create or replace function switchyard.may_hear(topic text) returns boolean
language sql stable security definer set search_path = '' as $$
  select case
    when topic like 'switchyard:topic:%' then switchyard.caller() is not null
    when topic like 'switchyard:installation:%' then exists (
      select from switchyard.installations i
      where i.id = substr(topic, 25) and i.owner = switchyard.caller())
    else false end
$$;

-- Sends from the database itself: to 'topic:news' or 'installation:…'. For administrators and for triggers of the project.
-- The message: {"title", "body", "data": {text: text}}, each if there is one.
create or replace function switchyard.send_message(target text, message jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform realtime.send(
    jsonb_build_object('id', gen_random_uuid(), 'sentAt', switchyard.time_text(clock_timestamp())) || message, 'message',
    'switchyard:' || target, true);
end $$;
revoke all on function switchyard.send_message(text, jsonb) from public;

-- Who may hear what on the channels of the realtime service, as statements for whoever may run them.
create or replace function switchyard.channel_policies() returns table (name text, purpose text, statement text)
language sql immutable as $$
  values
    ('switchyard_listen', 'live queries',
     'create policy switchyard_listen on realtime.messages for select to anon, authenticated using '
     || '(realtime.messages.extension = ''broadcast'' and (select switchyard.may_listen((select realtime.topic()))))'),
    ('switchyard_messages', 'messages',
     'create policy switchyard_messages on realtime.messages for select to authenticated using '
     || '(realtime.messages.extension = ''broadcast'' and switchyard.may_hear((select realtime.topic())))')
$$;

do $$
declare
  each_  record;
  owner_ name;
begin
  -- By the catalog: names of a schema that this role may not use are an error.
  select pg_get_userbyid(c.relowner) into owner_ from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'realtime' and c.relname = 'messages';
  if owner_ is null then return; end if;
  -- Whoever creates the policies names functions of this schema.
  execute format('grant usage on schema switchyard to %I', owner_);
  -- A policy's table is locked before it is known whether this role may have one.
  if not pg_has_role(owner_, 'usage') then return; end if;
  for each_ in select * from switchyard.channel_policies() loop
    begin
      execute format('drop policy if exists %I on realtime.messages', each_.name);
      execute each_.statement;
    exception when insufficient_privilege then
      -- switchyard.missing() tells what is to be done by somebody else.
      null;
    end;
  end loop;
end $$;
