-- Last: who may call what. Functions below `public` are for clients, the others for each other.
create or replace function switchyard.client_functions() returns text[]
language sql immutable parallel safe as $$
  select array['switchyard_get', 'switchyard_query', 'switchyard_aggregate', 'switchyard_collections', 'switchyard_changes',
    'switchyard_commit', 'switchyard_outcome', 'switchyard_delete_tree', 'switchyard_schema', 'switchyard_rows',
    'switchyard_row_query', 'switchyard_row_aggregate', 'switchyard_look', 'switchyard_commit_rows', 'switchyard_commit_many',
    'switchyard_register', 'switchyard_unregister', 'switchyard_messages']
$$;

do $$
declare
  each_ regprocedure;
begin
  for each_ in select p.oid::regprocedure from pg_proc p where p.pronamespace = 'public'::regnamespace
                 and p.proname = any (switchyard.client_functions()) loop
    execute format('revoke all on function %s from public', each_);
    execute format('grant execute on function %s to anon, authenticated, service_role', each_);
  end loop;
  revoke all on function switchyard.create_index(text, jsonb, boolean, boolean), switchyard.forget(int), switchyard.begin_epoch()
    from public;
end $$;

-- What version 9 had. Calls of it may be under way when it is brought up to date, so it goes when the installation runs again.
do $$ begin
  if (select s.schema from switchyard.settings s) >= 10 then
    drop function if exists switchyard.query_sql(jsonb, text), switchyard.clauses(jsonb), switchyard.filter_sql(jsonb),
      switchyard.equals_sql(text[], jsonb), switchyard.contains_sql(text[], jsonb);
  end if;
end $$;
notify pgrst, 'reload schema';
