import Switchyard

/// The tables, as migration steps: step `n` turns version `n - 1` into version `n`.
///
/// Never change a released step; add a new one instead.
struct SQLiteSchema {
    let steps: [String]

    var version: Int64 { Int64(steps.count) }

    static let current = SQLiteSchema(steps: [first, second, third])

    /// Keys are text and the tables are ordered by them, so that a collection's documents are adjacent. Columns that only the
    /// collector searches, every few minutes, have no index.
    private static let first = """
        CREATE TABLE globals (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
        CREATE TABLE targets (id INTEGER PRIMARY KEY, target BLOB NOT NULL UNIQUE, record BLOB NOT NULL);
        CREATE TABLE confirmed (target INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (target, path)) WITHOUT ROWID;
        CREATE TABLE collections (id TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (id, path)) WITHOUT ROWID;
        CREATE TABLE documents (
            collection TEXT NOT NULL, name TEXT NOT NULL, read_time INTEGER NOT NULL, bytes INTEGER NOT NULL,
            record BLOB NOT NULL, PRIMARY KEY (collection, name)) WITHOUT ROWID;
        CREATE INDEX documents_by_read_time ON documents (collection, read_time);
        CREATE TABLE uses (path TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE batches (
            owner TEXT NOT NULL, number INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (owner, number)
        ) WITHOUT ROWID;
        CREATE TABLE batch_paths (
            path TEXT NOT NULL, owner TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (path, owner, number)
        ) WITHOUT ROWID;
        CREATE TABLE overlays (
            owner TEXT NOT NULL, collection TEXT NOT NULL, name TEXT NOT NULL, batch INTEGER NOT NULL,
            record BLOB NOT NULL, PRIMARY KEY (owner, collection, name)) WITHOUT ROWID;
        CREATE TABLE refused (
            place INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, id TEXT NOT NULL, record BLOB NOT NULL,
            UNIQUE (owner, id));
        CREATE TABLE bundles (id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE named_queries (name TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
        """

    /// Columns of their own: tags are read without the documents, and bases are stored when a batch is sent.
    private static let second = """
        ALTER TABLE documents ADD COLUMN tag TEXT;
        ALTER TABLE batches ADD COLUMN bases BLOB;
        """

    /// Documents of this device under the names that the server made for them.
    private static let third = """
        CREATE TABLE names (
            owner TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (owner, document)) WITHOUT ROWID;
        """

    /// Data that came from the server and can be fetched again.
    static let cacheTables = [
        "targets", "confirmed", "collections", "documents", "uses", "bundles", "named_queries",
    ]

    /// Every table with contents, for clearing the store.
    static let tables = cacheTables + ["globals", "batches", "batch_paths", "overlays", "refused", "names"]

    /// Marks a file as ours (`SWYD`), so that a foreign database is never mistaken for a damaged store.
    static let applicationID: Int64 = 0x5357_5944

    enum Verdict {
        case ready
        /// Made by a later version of this software.
        case newer
        /// Not one of our stores.
        case foreign
    }

    /// Migrates the database; each step is atomic.
    func prepare(_ connection: SQLiteConnection) throws(StorageError) -> Verdict {
        let found = try connection.number("PRAGMA user_version") ?? 0
        let application = try connection.number("PRAGMA application_id") ?? 0
        let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        guard isEmpty || application == SQLiteSchema.applicationID else { return .foreign }
        guard found <= version else { return .newer }
        for step in Int(found)..<steps.count {
            do throws(StorageError) {
                try connection.run("BEGIN IMMEDIATE")
                try connection.run(steps[step])
                try connection.run(
                    "PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = \(step + 1)")
                try connection.run("COMMIT")
            } catch {
                if connection.isInTransaction { try? connection.run("ROLLBACK") }
                throw error
            }
        }
        return .ready
    }
}
