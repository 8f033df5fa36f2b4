#if canImport(Security)
    import Foundation
    import Security
    package import Switchyard
    import Synchronization

    /// Stores a session in the keychain of an Apple device: from the first unlock on, on this device only.
    ///
    /// Compiled on Apple platforms only, and not covered by the tests that run on Linux. The keychain does not report changes
    /// and has no lock between processes: with an access group, the processes that share the session see what others did to it when
    /// they start. An app group has a file instead.
    package final class KeychainSessionStore: SessionStore {
        private struct State {
            /// The record that could not be written.
            var unsaved: SessionRecord?
            /// The last record read or written: if the keychain cannot be read now, as while the device is locked, that does
            /// not mean signed out.
            var last = SessionRecord.none
            var changes: Int64 = 0
        }

        private let service: String
        private let account: String
        private let accessGroup: String?
        private let state = Mutex(State())
        private let refreshing = LocalLease()

        package init(service: String, account: String = "session", accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        package var mark: StoredSessionVersion { state.withLock { StoredSessionVersion($0.changes) } }

        package func read() -> SessionReading { state.withLock { load(&$0) } }

        package func apply(_ change: SessionChange) -> SessionStoreOutcome {
            state.withLock { state in
                let record: SessionRecord = if case .found(let record, _) = load(&state) { record } else { state.last }
                guard let wanted = change.applied(to: record) else {
                    return SessionStoreOutcome(.overtaken(record), mark: StoredSessionVersion(state.changes))
                }
                let status = write(SessionFile.encode(wanted))
                state.changes += 1
                state.unsaved = status == errSecSuccess ? nil : wanted
                state.last = wanted
                let isKept = status != errSecSuccess && change.endsSession && !remove()
                return SessionStoreOutcome(
                    .kept(wanted), mark: StoredSessionVersion(state.changes),
                    notice: status == errSecSuccess
                        ? nil : "The session cannot be stored in the keychain and ends with the process (\(status)).",
                    isUndoneByRestart: isKept)
            }
        }

        package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
            try await refreshing.acquire(clock)
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private func load(_ state: inout State) -> SessionReading {
            if let unsaved = state.unsaved { return .found(unsaved) }
            let reading = loadKept()
            if case .found(let record, _) = reading { state.last = record }
            return reading
        }

        private func loadKept() -> SessionReading {
            var query = query
            query[kSecReturnData] = true
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            guard status == errSecSuccess, let data = item as? Data else {
                return status == errSecItemNotFound
                    ? .found(.none) : .unreadable("The keychain cannot be read now (\(status)).")
            }
            return switch SessionFile.decode([UInt8](data)) {
            case .record(let record): .found(record)
            case .newer: .unreadable("The stored session was written by a newer version of this software.")
            case .damaged: .found(.none, notice: "The stored session was damaged. It is replaced at the next sign-in.")
            }
        }

        /// - Returns: Whether the keychain has no session any more.
        private func remove() -> Bool {
            [errSecSuccess, errSecItemNotFound].contains(SecItemDelete(query as CFDictionary))
        }

        private func write(_ bytes: [UInt8]) -> OSStatus {
            let data = Data(bytes)
            let status = SecItemUpdate(query as CFDictionary, [kSecValueData: data] as CFDictionary)
            guard status == errSecItemNotFound else { return status }
            var item = query
            item[kSecValueData] = data
            item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            return SecItemAdd(item as CFDictionary, nil)
        }
    }
#endif
