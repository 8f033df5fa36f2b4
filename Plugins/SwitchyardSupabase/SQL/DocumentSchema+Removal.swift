extension DocumentSchema {
    /// SQL that removes parts of any version, and the parts that depend on them; with the last part, also what every
    /// part needs. It runs atomically, and refuses to remove a newer version. The last result lists what it removed.
    ///
    /// - Parameters:
    ///   - parts: What to remove; without any, everything.
    ///   - keepingData: Whether tables and their contents stay, for another installation or for the database's owner. No one
    ///     else can use them then.
    ///   - isTrial: Whether to roll everything back at the end.
    package static func removal(
        of parts: Set<SchemaPart> = [], keepingData: Bool = false, isTrial: Bool = false
    ) -> String {
        let wanted = parts.isEmpty ? Set(SchemaPart.allCases) : parts.withDependents
        return """
            begin;
            \(guardStatement)
            do $removal$
            declare
              every    constant text[] := \(list(SchemaPart.allCases));
              wanted   constant text[] := \(list(wanted.sorted));
              is_kept  constant boolean := \(keepingData);
              here     text[] := every;
              remains  text[];
              gone     text[];
              removed  jsonb := '[]';
              each_    record;
            begin
              if to_regnamespace('switchyard') is null then return; end if;
              if to_regclass('switchyard.settings') is not null then
                select array(select jsonb_array_elements_text(to_jsonb(s) -> 'parts')) into here
                  from switchyard.settings s where to_jsonb(s) ? 'parts';
                here := coalesce(here, every);
              end if;
              remains := array(select p from unnest(here) p where p <> all (wanted) order by p);
              gone := wanted || case when remains = '{}' then array['common'] else '{}' end;
              if 'domain' = any (gone) and 'documents' = any (remains) and to_regproc('switchyard.rights') is null then
                raise exception 'the documents of this earlier version cannot do without the part domain'
                  using errcode = '55000', hint = 'Bring the database up to date first, or remove the documents as well.';
              end if;

            \(statements)

              if to_regclass('switchyard.settings') is not null then
                if remains = '{}' and not is_kept and not exists (
                    select from pg_catalog.pg_class c where c.relnamespace = 'switchyard'::regnamespace and c.relkind in ('r', 'p')
                      and c.relname <> 'settings') then
                  drop table switchyard.settings;
                  removed := removed || jsonb_build_object('kind', 'table', 'name', 'switchyard.settings');
                else
                  alter table switchyard.settings
                    add column if not exists parts text[] not null default '{documents,messages,domain,rows}';
                  alter table switchyard.settings alter column parts set default '{}';
                  update switchyard.settings set parts = remains;
                  if remains = '{}' then revoke all on switchyard.settings from anon, authenticated, service_role; end if;
                end if;
              end if;
              if remains = '{}' then
                if is_kept or to_regclass('switchyard.settings') is not null then
                  for each_ in select distinct pg_get_userbyid(a.grantee) as name from pg_catalog.pg_namespace n, aclexplode(n.nspacl) a
                                where n.nspname = 'switchyard' and a.grantee not in (0, n.nspowner) loop
                    execute format('revoke all on schema switchyard from %I', each_.name);
                  end loop;
                else
                  drop schema switchyard;
                  removed := removed || jsonb_build_object('kind', 'schema', 'name', 'switchyard');
                end if;
              end if;
              perform set_config('switchyard.removed', removed::text, true);
            end $removal$;
            notify pgrst, 'reload schema';
            select r.kind as "removed", r.name
              from jsonb_to_recordset(coalesce(nullif(current_setting('switchyard.removed', true), ''), '[]')::jsonb)
                as r (kind text, name text);
            \(isTrial ? "rollback;" : "commit;")

            """
    }

    private static func list(_ parts: [SchemaPart]) -> String {
        "array[\(parts.map { "'\($0.rawValue)'" }.joined(separator: ", "))]::text[]"
    }

    /// Rows of a list of objects: the part, the kind, the name, and of triggers and policies the table.
    private static func rows(_ kinds: Set<SchemaObject.Kind>, and more: [String] = []) -> String {
        let rows = SchemaInventory.all.objects.filter { kinds.contains($0.kind) }.map { object in
            let words = object.name.split(separator: " ")
            let place = words.count > 2 ? "\(words[2])" : ""
            return "('\(object.part?.rawValue ?? "common")', '\(object.kind)', '\(words[0])', '\(place)')"
        }
        return values(rows + more)
    }

    private static func values(_ rows: [String]) -> String {
        "(values\n" + rows.map { "      \($0)" }.joined(separator: ",\n") + ") o (part, kind, name, place)"
    }

    /// Drops the functions in a list.
    private static func drops(_ list: String) -> String {
        """
        for each_ in
          select o.name, format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as words, p.prokind = 'a' as is_aggregate
          from \(list)
          join pg_catalog.pg_proc p on p.proname = split_part(o.name, '.', 2)
          join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname = split_part(o.name, '.', 1)
          where o.part = any (gone) order by p.prokind <> 'a', 2
        loop
          if each_.name = 'switchyard.place' and to_regclass('switchyard.documents') is not null then
            -- A column of the table is made by it.
            execute format('revoke all on function %s from public, anon, authenticated, service_role', each_.words);
            continue;
          end if;
          execute format('drop %s %s', case when each_.is_aggregate then 'aggregate' else 'function' end, each_.words);
          removed := removed || jsonb_build_object('kind', case when each_.is_aggregate then 'aggregate' else 'function' end,
                                                   'name', each_.words);
        end loop;
        """
    }

    /// Policies that ``installation(domain:)`` proposes if its role cannot create them.
    private static let proposed = [
        "('common', 'policy', 'switchyard_send', 'realtime.messages')",
        "('messages', 'policy', 'switchyard_read', 'realtime.messages')",
    ]

    /// In an order in which no object is removed while another depends on it.
    private static var statements: String {
        """
          -- By the catalog: names of a schema that this role may not use are an error.
          for each_ in
            select o.*, format('%I on %I.%I', o.name, n.nspname, c.relname) as words from \(rows([.policy], and: proposed))
            join pg_catalog.pg_policy p on p.polname = o.name join pg_catalog.pg_class c on c.oid = p.polrelid
            join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            where o.part = any (gone) and o.place = n.nspname || '.' || c.relname
          loop
            execute 'drop policy ' || each_.words;
            removed := removed || jsonb_build_object('kind', 'policy', 'name', each_.words);
          end loop;
          for each_ in
            select o.*, format('%I on %s', o.name, o.place) as words from \(rows([.trigger]))
            join pg_catalog.pg_trigger t on t.tgname = o.name and t.tgrelid = to_regclass(o.place) where o.part = any (gone)
          loop
            execute 'drop trigger ' || each_.words;
            removed := removed || jsonb_build_object('kind', 'trigger', 'name', each_.words);
          end loop;

          -- Rows of a rule that is gone: the others take over, of which none shows more.
          if 'domain' = any (gone) and to_regclass('switchyard.rules') is not null then
            delete from switchyard.rules r where r.read = 'domain' and r.write = 'domain';
            update switchyard.rules r set read = case r.read when 'domain' then 'none' else r.read end,
              write = case r.write when 'domain' then 'none' else r.write end where 'domain' in (r.read, r.write);
          end if;
          -- These may take a row of a table.
          \(drops(values(former.map { "('\($0.part)', 'function', 'switchyard.\($0.name)', '')" })))
          for each_ in select o.* from \(rows([.table]))
                        where o.part = any (gone) and o.part <> 'common' and to_regclass(o.name) is not null loop
            if is_kept then
              execute format('revoke all on table %s from anon, authenticated, service_role', each_.name);
            else
              execute 'drop table ' || each_.name;
              removed := removed || jsonb_build_object('kind', 'table', 'name', each_.name);
            end if;
          end loop;
          -- Of a table that stays: what only the rule needs, and what is built by functions that go.
          for each_ in
            select x.indexrelid::regclass::text as name from pg_catalog.pg_index x
              join pg_catalog.pg_class c on c.oid = x.indrelid
              where c.relnamespace = 'switchyard'::regnamespace and (
                exists (select from \(rows([.index])) where o.part = 'domain' and o.part = any (gone)
                          and to_regclass(o.name) = x.indexrelid)
                or ('documents' = any (gone) and exists (
                  select from pg_catalog.pg_depend d join pg_catalog.pg_proc p on p.oid = d.refobjid
                  where d.classid = 'pg_class'::regclass and d.objid = x.indexrelid and d.refclassid = 'pg_proc'::regclass
                    and p.pronamespace = 'switchyard'::regnamespace)))
          loop
            execute 'drop index ' || each_.name;
            removed := removed || jsonb_build_object('kind', 'index', 'name', each_.name);
          end loop;

          \(drops(rows([.function, .aggregate])))
        """
    }
}
