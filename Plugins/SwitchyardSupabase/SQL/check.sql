-- What several parts share, and what is missing.

do $$
declare
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
  drop policy if exists switchyard_listen on realtime.messages;
  drop policy if exists switchyard_messages on realtime.messages;
end $$;

-- The rule `domain` for those who read the table itself.
do $$ begin
  if to_regclass('switchyard.documents') is null then return; end if;
  drop policy if exists documents_domain on switchyard.documents;
  if to_regproc('switchyard.domain_reads') is not null then
    create policy documents_domain on switchyard.documents for select using (
      collection_id = any ((select s.domain from switchyard.standing('read') s)::text[])
      and switchyard.domain_reads(path, data, owner, (select switchyard.caller())));
  end if;
end $$;

-- Since version 9: what an installation was to put here and is not here, each with the statement that puts it there, and with
-- who may run that. Nothing comes back where all is well. For administrators, at any time.
create or replace function switchyard.missing(has_domain boolean default false)
returns table (missing text, statement text, by_whom text)
language plpgsql stable set search_path = '' as $$
declare
  roles_   constant text[] := array['anon', 'authenticated', 'service_role'];
  again    constant text := 'switchyard supabase install (run the installation again)';
  keeper   text := (select pg_get_userbyid(n.nspowner) from pg_catalog.pg_namespace n where n.nspname = 'switchyard');
  -- By the catalog: names of a schema that this role may not use are an error.
  channels oid := (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = 'realtime' and c.relname = 'messages');
  sends    oid := (select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
                   where n.nspname = 'realtime' and p.proname = 'send'
                     and oidvectortypes(p.proargtypes) = 'jsonb, text, text, boolean');
  sender   name;
  owner_   name;
  parts_   text[] := (select s.parts from switchyard.settings s);
  has_documents constant boolean := 'documents' = any (parts_);
  has_messages  constant boolean := 'messages' = any (parts_);
begin
  -- What clients call.
  return query select 'the function public.' || f.name, again, keeper
    from (select split_part(a.name, '.', 2) as name from switchyard.access() a
          where (a.part = 'common' or a.part = any (parts_)) and a.name like 'public.%') f
    where not exists (select from pg_catalog.pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = f.name);
  return query select format('the right of %I to use the schema switchyard', r.name),
      format('grant usage on schema switchyard to %I;', r.name), keeper
    from unnest(roles_) r (name) where not has_schema_privilege(r.name, 'switchyard', 'usage');
  return query select format('the right of %I to call %I.%I', r.role_, n.nspname, p.proname),
      format('grant execute on function %s to %I;', r.function_, r.role_), pg_get_userbyid(p.proowner)::text
    from switchyard.rights() r join pg_catalog.pg_proc p on p.oid = r.function_
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace where r.is_wanted and not r.is_there;
  -- What keeps the tables.
  return query select 'row-level security on ' || t.name, format('alter table %s enable row level security;', t.name), keeper
    from unnest(array['switchyard.settings'] || case when has_documents then array['switchyard.documents', 'switchyard.deletions',
      'switchyard.batches', 'switchyard.rules'] end || case when has_messages then array['switchyard.installations',
      'switchyard.channels'] end) t (name)
    where not exists (select from pg_catalog.pg_class c where c.oid = to_regclass(t.name) and c.relrowsecurity);
  return query select format('the policy %s on %s', t.name, t.place), again, keeper
    from (values ('documents', 'documents_read', 'switchyard.documents'), ('domain', 'documents_domain', 'switchyard.documents'),
                 ('messages', 'installations_read', 'switchyard.installations')) t (part, name, place)
    where t.part = any (parts_) and not exists (select from pg_catalog.pg_policy p where p.polrelid = to_regclass(t.place) and p.polname = t.name);
  return query select format('the trigger %s on switchyard.%s', t.name, t.place), again, keeper
    from (values ('documents_stamp', 'documents'), ('documents_inserted', 'documents'), ('documents_updated', 'documents'),
                 ('documents_deleted', 'documents'), ('rules_rights', 'rules'), ('settings_rights', 'settings')) t (name, place)
    where (has_documents or t.place = 'settings') and not exists (
      select from pg_catalog.pg_trigger g
      where g.tgrelid = to_regclass('switchyard.' || t.place) and g.tgname = t.name and g.tgenabled <> 'D');

  -- Since version 10: by these, a caller's own documents and what the rule `domain` shows are found without a look at anybody
  -- else's. Where there are many documents, they are built without holding up anybody, which no transaction can do.
  return query select format('the index switchyard.%s, without which a caller''s queries look at everybody''s documents', x.name),
      case when i.indexrelid is null then format('create index concurrently if not exists %I on %s;', x.name, x.place)
           else format('reindex index concurrently switchyard.%I;', x.name) end, keeper
    from (values
      ('documents', 'documents_owner', 'switchyard.documents (owner, collection_id, place)'),
      ('documents', 'deletions_owner', 'switchyard.deletions (owner, collection_id, version)'),
      ('domain', 'documents_contact', 'switchyard.documents (split_part(path, ''/'', 4)) where collection_id = ''contacts'''),
      ('domain', 'documents_check_in', 'switchyard.documents (left(data ->> ''userID'', 300)) where collection = ''checkIns''')
    ) x (part, name, place) left join pg_catalog.pg_index i on i.indexrelid = to_regclass('switchyard.' || x.name)
    where x.part = any (parts_) and i.indisvalid is not true;

  -- What live queries and messages need of the realtime service, where there is one.
  if channels is not null then
    select pg_get_userbyid(c.relowner) into owner_ from pg_catalog.pg_class c where c.oid = channels;
    return query select format('the right of %I to use the schema switchyard, which the policies need', owner_),
        format('grant usage on schema switchyard to %I;', owner_), keeper
      where not has_schema_privilege(owner_, 'switchyard', 'usage');
    return query select format('the policy %s on realtime.messages, for %s', p.name, p.purpose), p.statement,
        format('%s, or a member of it', owner_)
      from (values
        ('documents', 'switchyard_listen', 'live queries',
         'create policy switchyard_listen on realtime.messages for select to anon, authenticated using '
         || '(realtime.messages.extension = ''broadcast'' and (select switchyard.may_listen((select realtime.topic()))));'),
        ('messages', 'switchyard_messages', 'messages',
         'create policy switchyard_messages on realtime.messages for select to authenticated using '
         || '(realtime.messages.extension = ''broadcast'' and switchyard.may_hear((select realtime.topic())));')
      ) p (part, name, purpose, statement)
      where p.part = any (parts_) and not exists (select from pg_catalog.pg_policy x where x.polrelid = channels and x.polname = p.name);
    return query select 'row-level security on realtime.messages, without which channels are not guarded',
        'alter table realtime.messages enable row level security;', format('%s, or a member of it', owner_)
      where not exists (select from pg_catalog.pg_class c where c.oid = channels and c.relrowsecurity);
    return query select format('the right of %I to read realtime.messages as far as policies let it', r.name),
        format('grant select on realtime.messages to %I;', r.name), format('%s, or a member of it', owner_)
      from unnest(array['anon', 'authenticated']) r (name) where not has_table_privilege(r.name, channels, 'select');
    select pg_get_userbyid(p.proowner) into sender from pg_catalog.pg_proc p
      where p.oid = to_regprocedure('switchyard.announce()');
    if sends is not null and sender is not null then
      return query select format('the right of %I to use the schema realtime, without which documents cannot be written', sender),
          format('grant usage on schema realtime to %I;', sender),
          (select pg_get_userbyid(n.nspowner)::text from pg_catalog.pg_namespace n where n.nspname = 'realtime')
        where not has_schema_privilege(sender, 'realtime', 'usage');
      return query select format('the right of %I to call realtime.send, without which documents cannot be written', sender),
          format('grant execute on function realtime.send(jsonb, text, text, boolean) to %I;', sender),
          (select pg_get_userbyid(p.proowner)::text from pg_catalog.pg_proc p where p.oid = sends)
        where not has_function_privilege(sender, sends, 'execute');
      return query select format('the right of %I to send hints: to insert into realtime.messages', sender),
          format('grant insert on realtime.messages to %I;', sender), format('%s, or a member of it', owner_)
        where not has_table_privilege(sender, channels, 'insert');
      return query select format('the policy switchyard_send on realtime.messages, by which %I sends hints', sender),
          format('create policy switchyard_send on realtime.messages for insert to %I with check (true);', sender),
          format('%s, or a member of it', owner_)
        from pg_catalog.pg_roles r
        where r.rolname = sender and not r.rolsuper and not r.rolbypassrls and not pg_has_role(sender, owner_, 'usage')
          and not exists (
            select from pg_catalog.pg_policy x where x.polrelid = channels and x.polcmd in ('a', '*')
              and (0::oid = any (x.polroles) or exists (select from unnest(x.polroles) y where pg_has_role(sender, y, 'usage'))));
    end if;
  end if;

  -- What finds messages that were missed.
  if channels is not null and has_messages then
    select pg_get_userbyid(p.proowner) into sender from pg_catalog.pg_proc p
      where p.oid = to_regprocedure('public.switchyard_messages(jsonb)');
    return query select format('the right of %I to read realtime.messages, without which missed messages are lost', sender),
        format('grant select on realtime.messages to %I;', sender), format('%s, or a member of it', owner_)
      where not has_table_privilege(sender, channels, 'select');
    return query select format('the policy switchyard_read on realtime.messages, by which %I finds missed messages', sender),
        format('create policy switchyard_read on realtime.messages for select to %I using (true);', sender),
        format('%s, or a member of it', owner_)
      from pg_catalog.pg_roles r
      where r.rolname = sender and not r.rolsuper and not r.rolbypassrls and not pg_has_role(sender, owner_, 'usage')
        and not exists (
          select from pg_catalog.pg_policy x where x.polrelid = channels and x.polcmd in ('r', '*')
            and pg_get_expr(x.polqual, x.polrelid) = 'true'
            and (0::oid = any (x.polroles) or exists (select from unnest(x.polroles) y where pg_has_role(sender, y, 'usage'))));
  end if;

  if has_domain then
    return query select format('the rule domain for the collection %s', c.name)
          || case when x.read is null then '' else format(', which has the rules %s and %s', x.read, x.write) end,
        format('insert into switchyard.rules (collection_id, read, write) values (%L, ''domain'', ''domain'') '
          || 'on conflict (collection_id) do update set read = excluded.read, write = excluded.write;', c.name), keeper
      from unnest(array['users', 'contacts', 'contactRequests', 'notifications', 'checkIns']) c (name)
      left join switchyard.rules x on x.collection_id = c.name
      where x.read is distinct from 'domain' or x.write is distinct from 'domain';
  end if;
end $$;
notify pgrst, 'reload schema';
