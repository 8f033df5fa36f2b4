/// The SQL that prepares a database for documents and messages.
public enum DocumentSchema {
    /// The version of the functions. It increases when clients need something that older functions lack. Functions that
    /// give the same answers in less time keep the version; run ``sql`` again to get them.
    public static let version = 11
    /// The version of the oldest clients that these functions support.
    package static let serves = 1

    /// The SQL to run as the role that owns the schema: documents and messages. It runs atomically, upgrades an older version
    /// without losing the contents of tables, changes nothing when run again, and refuses to replace a newer version. Other
    /// parts that need documents are upgraded if they are installed.
    public static var sql: String { sql(.usual) }

    /// The same SQL, followed by a query for missing parts, with the statements to run and the role that may run each.
    ///
    /// An empty result means that everything is installed.
    ///
    /// - Parameter domain: Whether to include ``domainRules``.
    public static func installation(domain: Bool = false) -> String {
        installation(of: domain ? Set.usual.union([.domain]) : .usual)
    }

    /// - Parameters:
    ///   - parts: The parts to install, with those that they need, in addition to the installed ones.
    ///   - anon: Whether callers who are not signed in may call every function for clients, whatever the rules are.
    package static func installation(of parts: Set<SchemaPart>, anon: Bool = false) -> String {
        """
        \(sql(parts.withBases, anon: anon))
        -- Nothing comes back where all is well.
        select m.missing as "is missing", m.statement as "run this", m.by_whom as "as"
          from switchyard.missing(\(parts.contains(.domain))) m;

        """
    }

    /// The rule `domain`, with rows of `switchyard.rules` for the clients of users, contacts, check-ins and notifications, to
    /// be run after ``sql``. Users own their documents, and contacts can do what these clients do for them. Existing rows stay.
    public static var domainRules: String { script([.domain, .check], [.domain], anon: false) }

    private static func sql(_ parts: Set<SchemaPart>, anon: Bool = false) -> String {
        script([.common] + parts.sorted.flatMap(\.files) + [.check], parts, anon: anon)
    }

    private static func script(_ files: [SchemaFile], _ parts: Set<SchemaPart>, anon: Bool) -> String {
        var sql = ["begin;", guardStatement, dropOfFormer] + files.map(\.sql) + [endStatement(parts, anon: anon)]
        // Parts that need documents require documents of the same version.
        if parts.contains(.documents) {
            let updates = [SchemaPart.rows, .domain].filter { !parts.contains($0) }.map(update)
            sql.insert(contentsOf: updates, at: sql.count - 2)
        }
        return (sql + (parts.contains(.domain) ? [domainRows] : []) + ["commit;", ""]).joined(separator: "\n")
    }

    private static func update(_ part: SchemaPart) -> String {
        """
        do $update$ begin if to_regproc('\(part == .domain ? "switchyard.domain_reads" : "public.switchyard_rows")') is not null then execute $\(part)$
        \(part.files.map(\.sql).joined(separator: "\n"))
        $\(part)$; end if; end $update$;
        """
    }

    private static let domainRows = """
        insert into switchyard.rules (collection_id, read, write)
          values ('users', 'domain', 'domain'), ('contacts', 'domain', 'domain'), ('contactRequests', 'domain', 'domain'),
                 ('notifications', 'domain', 'domain'), ('checkIns', 'domain', 'domain')
          on conflict (collection_id) do nothing;
        """

    /// Locks out other installations and removals, and all use of the tables.
    static var guardStatement: String {
        """
        -- Switchyard, version \(version).
        do $$
        declare
          installed int;
          tables    text;
          patience  constant timestamptz := clock_timestamp() + interval '30 seconds';
        begin
          perform pg_advisory_xact_lock(hashtextextended('switchyard', 0));
          if to_regclass('switchyard.settings') is not null then
            execute 'select schema from switchyard.settings' into installed;
            if installed > \(version) then
              raise exception 'the database has version % of these functions, which is newer than version \(version)', installed
                using errcode = '55000';
            end if;
          end if;
          -- All tables at once, before anything is changed: calls that use one now finish first. No call waits for a table here
          -- while holding another for longer than a moment, so no call is ended as a deadlock.
          select string_agg(c.oid::regclass::text, ', ' order by n.nspname desc,
                            array_position(array['batches', 'settings', 'rules'], c.relname::text), c.relname) into tables
            from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            where (n.nspname = 'switchyard' and c.relkind = 'r')
               or (n.nspname = 'realtime' and c.relname = 'messages' and pg_has_role(c.relowner, 'usage'));
          while tables is not null loop
            begin
              perform set_config('lock_timeout', '200ms', true);
              execute 'lock table ' || tables || ' in access exclusive mode';
              exit;
            exception when lock_not_available then
              if clock_timestamp() > patience then
                raise exception 'the tables % were in use for 30 seconds; nothing was changed', tables
                  using errcode = '55P03', hint = 'End long transactions (see pg_stat_activity) and run the installation again.';
              end if;
              perform pg_sleep(0.02 + random() * 0.1);
            end;
          end loop;
          perform set_config('lock_timeout', '0', true);
        end $$;
        """
    }

    /// The version and the parts; the parts determine who may call which function.
    private static func endStatement(_ parts: Set<SchemaPart>, anon: Bool) -> String {
        func list(_ parts: [SchemaPart]) -> String {
            "array[\(parts.map { "'\($0.rawValue)'" }.joined(separator: ", "))]::text[]"
        }
        return """
            do $$ begin
              -- Clients take the version for that of all that they call.
              if exists (select from switchyard.settings s
                         where s.schema < \(version) and s.parts && \(list([.documents, .messages].filter { !parts.contains($0) }))) then
                raise exception 'another part has an earlier version' using errcode = '55000',
                  hint = 'Bring documents and messages up to date together: install both, or name neither.';
              end if;
            end $$;
            insert into switchyard.settings (schema, serves) values (\(version), \(serves))
              on conflict (only_one) do update set schema = excluded.schema, serves = excluded.serves;
            update switchyard.settings
              set parts = array(select distinct p from unnest(parts || \(list(parts.sorted))) p order by 1)\(anon ? ", anon = true" : "");
            \(parts.contains(.documents) ? "do $$ begin perform switchyard.begin_writes('{}'); end $$;" : "")
            do $$
            declare
              statement text;
              is_large  boolean := false;
            begin
              if to_regclass('switchyard.documents') is not null then
                is_large := (select count(*) from (select from switchyard.documents limit 20001) x) > 20000;
              end if;
              -- Of what is missing: what this role may add, and what blocks no one for long.
              for statement in select m.statement from switchyard.missing() m
                where m.statement ~ '^create policy switchyard_(listen|messages) ' or (m.statement ~ '^create index ' and not is_large) loop
                begin
                  execute replace(statement, 'create index concurrently', 'create index');
                exception when insufficient_privilege then
                  null;
                end;
              end loop;
            end $$;
            """
    }
}
