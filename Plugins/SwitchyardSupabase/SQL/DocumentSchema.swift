/// The SQL that makes a database hold documents.
public enum DocumentSchema {
    /// Goes up with everything that is added or changed, so that a client knows whether what it calls is there.
    public static let version = 8
    /// The oldest clients, by the version they bring along, that these functions still serve.
    package static let serves = 1

    /// To be run as the role that owns the schema. It takes effect as a whole or not at all, brings what an older version has
    /// left up to this one and keeps what is in the tables, changes nothing when it is run again, and refuses to take the
    /// place of a newer version.
    public static var sql: String {
        let files = [
            PackageResources.values_sql, PackageResources.tables_sql, PackageResources.queries_sql,
            PackageResources.writing_sql, PackageResources.reading_sql, PackageResources.changes_sql,
            PackageResources.rows_sql, PackageResources.messaging_sql, PackageResources.grants_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
        return (["begin;", guardStatement] + files + [versionStatement, "commit;", ""]).joined(separator: "\n")
    }

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
