/// The SQL that makes a database hold documents.
public enum DocumentSchema {
    /// Goes up with everything that is added or changed, so that a client knows whether what it calls is there.
    public static let version = 9
    /// The oldest clients, by the version they bring along, that these functions still serve.
    package static let serves = 1

    /// To be run as the role that owns the schema. It takes effect as a whole or not at all, brings what an older version has
    /// left up to this one and keeps what is in the tables, changes nothing when it is run again, and refuses to take the
    /// place of a newer version.
    public static var sql: String {
        let files = [
            PackageResources.values_sql, PackageResources.domain_sql, PackageResources.tables_sql,
            PackageResources.queries_sql,
            PackageResources.writing_sql, PackageResources.reading_sql, PackageResources.changes_sql,
            PackageResources.rows_sql, PackageResources.messaging_sql, PackageResources.grants_sql,
            PackageResources.check_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
        return (["begin;", guardStatement] + files + [versionStatement, "commit;", ""]).joined(separator: "\n")
    }

    /// The same, and at its end a question: what is missing all the same, with the statement to be run and who may run it. One
    /// that has no rows for its answer has put everything there.
    ///
    /// - Parameter domain: Whether ``domainRules`` go with it.
    public static func installation(domain: Bool = false) -> String {
        """
        \(sql)\(domain ? domainRules : "")
        -- Nothing comes back where all is well.
        select m.missing as "is missing", m.statement as "run this", m.by_whom as "as" from switchyard.missing(\(domain)) m;

        """
    }

    /// Rows of `switchyard.rules` for the clients of users, contacts, check-ins and notifications, to be run after ``sql``: each
    /// person owns what is theirs, and contacts may do what these clients do for them. Rows that are there already stay.
    public static let domainRules = """
        insert into switchyard.rules (collection_id, read, write)
          values ('users', 'domain', 'domain'), ('contacts', 'domain', 'domain'), ('notifications', 'domain', 'domain'),
                 ('checkIns', 'domain', 'domain')
          on conflict (collection_id) do nothing;

        """

    private static var guardStatement: String {
        """
        -- Documents of Switchyard, version \(version).
        do $$
        declare
          installed int;
        begin
          perform pg_advisory_xact_lock(hashtextextended('switchyard', 0));
          if to_regclass('switchyard.settings') is not null then
            execute 'select schema from switchyard.settings' into installed;
            if installed > \(version) then
              raise exception 'the database has version % of these functions, which is newer than version \(version)', installed
                using errcode = '55000';
            end if;
          end if;
        end $$;
        """
    }

    private static var versionStatement: String {
        """
        insert into switchyard.settings (schema, serves) values (\(version), \(serves))
          on conflict (only_one) do update set schema = excluded.schema, serves = excluded.serves;
        do $$ begin perform switchyard.settle(); end $$;
        """
    }
}
