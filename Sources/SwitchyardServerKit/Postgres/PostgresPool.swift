import Synchronization

/// A few shared connections; broken ones are replaced when the next unit of statements arrives.
package actor PostgresPool {
    private let port: UInt16
    private let user: String
    private let database: String
    private let limit: Int
    private var idle: [PostgresConnection] = []
    private var count = 0
    private var queue: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    package init(port: UInt16, user: String, database: String = "postgres", limit: Int = 8) {
        self.port = port
        self.user = user
        self.database = database
        self.limit = limit
    }

    /// Runs the statements as one transaction on a separate connection.
    package func run(_ statements: [PostgresStatement]) async throws(PostgresFailure) -> [PostgresResult] {
        let connection = try await take()
        do throws(PostgresFailure) {
            let results = try await connection.run(statements)
            giveBack(connection)
            return results
        } catch {
            giveBack(connection)
            throw error
        }
    }

    package func close() {
        isClosed = true
        for connection in idle { connection.close() }
        idle = []
        for waiting in queue { waiting.resume() }
        queue = []
    }

    /// An exclusive connection. Give it back closed, or with no transaction open.
    package func take() async throws(PostgresFailure) -> PostgresConnection {
        while idle.isEmpty, count >= limit, !isClosed {
            await withCheckedContinuation { queue.append($0) }
        }
        if isClosed { throw .disconnected }
        while let connection = idle.popLast() {
            if connection.isOpen { return connection }
            count -= 1
        }
        count += 1
        do throws(PostgresFailure) {
            return try await PostgresConnection(port: port, user: user, database: database)
        } catch {
            count -= 1
            wakeNext()
            throw error
        }
    }

    package func giveBack(_ connection: PostgresConnection) {
        if isClosed || !connection.isOpen {
            connection.close()
            count -= 1
        } else {
            idle.append(connection)
        }
        wakeNext()
    }

    private func wakeNext() {
        if !queue.isEmpty { queue.removeFirst().resume() }
    }
}
