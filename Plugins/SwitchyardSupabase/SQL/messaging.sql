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

-- Since version 11: how many messages the database has sent to each channel, so that whoever listens knows what is missing.
create table if not exists switchyard.channels (
  target text primary key check (octet_length(target) <= 1024),
  newest bigint not null
);
alter table switchyard.channels enable row level security;
grant all on switchyard.channels to service_role;

-- The installation is the caller's from now on. Its name is known to no one else, so it may have been another user's
-- before; a platform's token is that of one installation.
create or replace function public.switchyard_register(
  installation text, service text default null, token text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if switchyard.caller() is null then raise exception 'no one is signed in' using errcode = '42501'; end if;
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
  delete from switchyard.installations i where i.id = installation;
  delete from switchyard.channels c where c.target = 'installation:' || installation
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
-- The message: {"title", "body", "data": {text: text}}, each if there is one. The channel is locked until the transaction ends,
-- so that the numbers are in the order in which messages become visible: one transaction sends to several channels in the
-- order of their names.
create or replace function switchyard.send_message(target text, message jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  number_ bigint;
begin
  insert into switchyard.channels as c (target, newest) values (send_message.target, 1)
    on conflict on constraint channels_pkey do update set newest = c.newest + 1 returning c.newest into number_;
  perform realtime.send(
    jsonb_build_object('id', gen_random_uuid(), 'sentAt', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || message
      || jsonb_build_object('number', number_), 'message',
    'switchyard:' || send_message.target, true);
end $$;

-- For each {"target", "after"} that the caller may hear: {"target", "newest", "through", "messages"}, with the messages that are
-- stored of those numbered after "after" and up to "through"; the newest number alone where "after" is null. What the realtime
-- service no longer keeps is missing.
create or replace function public.switchyard_messages(wanted jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  answers jsonb := '[]';
  each_   record;
  newest_ bigint;
  found_  jsonb;
  page    constant int := 100;
begin
  for each_ in select w.target, w.after from jsonb_to_recordset(wanted) as w (target text, after bigint) limit 1000 loop
    continue when each_.target is null or not switchyard.may_hear('switchyard:' || each_.target);
    newest_ := coalesce((select c.newest from switchyard.channels c where c.target = each_.target), 0);
    found_ := '[]';
    if each_.after < newest_ then
      select coalesce(jsonb_agg(n.payload order by n.number_), '[]') into found_ from (
        select m.payload, m.number_ from (
          select m.payload,
            case when m.payload ->> 'number' ~ '^[0-9]{1,18}$' then (m.payload ->> 'number')::bigint end as number_
          from realtime.messages m
          where m.topic = 'switchyard:' || each_.target and m.extension = 'broadcast' and m.private and m.event = 'message'
            and m.inserted_at > (now() at time zone 'utc') - interval '3 days') m
        where m.number_ > each_.after and m.number_ <= newest_
        order by m.number_ limit page) n;
    end if;
    answers := answers || jsonb_build_object('target', each_.target, 'newest', newest_, 'messages', found_,
      'through', case when jsonb_array_length(found_) = page then found_ -> (page - 1) -> 'number' else to_jsonb(newest_) end);
  end loop;
  return answers;
end $$;
