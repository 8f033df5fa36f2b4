import CSwitchyardLibraries
import Switchyard

/// A prepared statement: bind its parameters in order, then run it or iterate over its rows, which resets it.
final class SQLiteStatement {
    private let handle: csqlite_statement
    private static let success = Int32(CSQLITE_OK)
    private var parameter: Int32 = 0
    private var bindingFailure = SQLiteStatement.success
    /// Whether its rows are being iterated.
    private(set) var isInUse = false

    init(_ connection: csqlite_connection, _ sql: String) throws(StorageError) {
        var handle: csqlite_statement?
        let code = csqlite_prepare(connection, sql, &handle)
        guard code == CSQLITE_OK, let handle else { throw SQLiteFailure(code).error }
        self.handle = handle
    }

    deinit { csqlite_finalize(handle) }

    // MARK: Parameters, from the first on

    @discardableResult
    func bind(_ value: Int64) -> SQLiteStatement { note(csqlite_bind_integer(handle, next(), value)) }

    @discardableResult
    func bind(_ value: Int) -> SQLiteStatement { bind(Int64(value)) }

    @discardableResult
    func bind(_ text: String) -> SQLiteStatement {
        var text = text
        return text.withUTF8 { bind(UnsafeRawBufferPointer($0)) }
    }

    /// Binds a path as the two key columns of documents: the collection and the name.
    @discardableResult
    func bind(parts path: StoragePath) -> SQLiteStatement {
        var text = path.rawValue
        return text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
            return bind(UnsafeRawBufferPointer(rebasing: bytes[..<slash]))
                .bind(UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...]))
        }
    }

    private func bind(_ utf8: UnsafeRawBufferPointer) -> SQLiteStatement {
        note(
            csqlite_bind_text(handle, next(), utf8.baseAddress?.assumingMemoryBound(to: CChar.self), utf8.count))
    }

    @discardableResult
    func bind(_ bytes: [UInt8]) -> SQLiteStatement {
        bytes.withUnsafeBytes { note(csqlite_bind_bytes(handle, next(), $0.baseAddress, $0.count)) }
    }

    private func next() -> Int32 {
        parameter += 1
        return parameter
    }

    private func note(_ code: Int32) -> SQLiteStatement {
        if code != CSQLITE_OK { bindingFailure = code }
        return self
    }

    // MARK: Running

    /// Runs it; ignores any rows.
    func run() throws(StorageError) {
        try rows { _ in }
    }

    /// Calls `body` for each row. The row is valid only inside.
    func rows(_ body: (SQLiteRow) throws(StorageError) -> Void) throws(StorageError) {
        isInUse = true
        defer {
            isInUse = false
            parameter = 0
            bindingFailure = SQLiteStatement.success
            csqlite_reset(handle)
        }
        guard bindingFailure == CSQLITE_OK else { throw SQLiteFailure(bindingFailure).error }
        while true {
            switch csqlite_step(handle) {
            case Int32(CSQLITE_ROW): try body(SQLiteRow(handle: handle))
            case Int32(CSQLITE_DONE): return
            case let code: throw SQLiteFailure(code).error
            }
        }
    }

    /// The result of `body` for the only row; `nil` if there is no row.
    func first<Result>(_ body: (SQLiteRow) throws(StorageError) -> Result) throws(StorageError) -> Result? {
        var result: Result?
        try rows { row throws(StorageError) in
            if result == nil { result = try body(row) }
        }
        return result
    }
}

/// The current row of a statement. Do not keep it.
struct SQLiteRow {
    fileprivate let handle: csqlite_statement

    func integer(_ column: Int32) -> Int64 { csqlite_integer(handle, column) }

    func text(_ column: Int32) -> String { utf8(column) { String(decoding: $0, as: UTF8.self) } }

    /// Whether the column is null, or has no bytes.
    func isEmpty(_ column: Int32) -> Bool {
        var count = 0
        return csqlite_bytes(handle, column, &count) == nil
    }

    /// The bytes of a text, in place.
    func utf8<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var count = 0
        let start = csqlite_text(handle, column, &count)
        return body(
            UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
    }

    /// Reads a record in place.
    func record<Result>(
        _ column: Int32, _ body: (inout RecordReader) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var count = 0
        let start = csqlite_bytes(handle, column, &count)
        // The bytes live until the next step, and the reader does not leave this call.
        var reader = try RecordReader(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
        return try body(&reader)
    }
}
