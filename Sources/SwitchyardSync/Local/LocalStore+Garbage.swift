import Switchyard

/// The result of a collector pass.
package struct CollectionReport: Sendable, Equatable {
    package var removedTargets = 0
    package var removedDocuments = 0
}

extension LocalStore {
    /// Removes the least recently used documents if the cache is above its limit.
    ///
    /// Targets in use and their documents stay, and so do documents referenced by a pending write or an open view.
    func collectGarbage(_ limits: CacheLimits? = nil) throws(StorageError) -> CollectionReport {
        guard case .leastRecentlyUsed(let standard) = policy else { return CollectionReport() }
        let limits = limits ?? standard
        return try perform(.collectGarbage) { transaction throws(StorageError) in
            let rows = transaction.rows
            guard try rows.documentBytes >= limits.threshold else { return CollectionReport() }

            let idle = try rows.targets().filter { transaction.active[$0.id] == nil }
            let orphans = try rows.orphans(upTo: .max)
            let all = try rows.targets().count + orphans.count
            let wanted = min(all * limits.percentile / 100, limits.maximumSequenceNumbers)
            guard wanted > 0 else { return CollectionReport() }
            let numbers = (idle.map(\.sequenceNumber) + orphans.map(\.sequenceNumber)).sorted()
            guard let bound = numbers.prefix(wanted).last else { return CollectionReport() }

            var report = CollectionReport()
            for record in idle where record.sequenceNumber <= bound {
                // Its documents were in use as long as the target was.
                try rows.setSequenceNumber(record.sequenceNumber, of: Array(rows.confirmedKeys(of: record.id)))
                try rows.removeTarget(record.id)
                report.removedTargets += 1
            }
            for (path, _) in try rows.orphans(upTo: bound) {
                guard !transaction.pins.contains(path), try !rows.hasBatch(touching: path) else { continue }
                try rows.removeDocument(at: path)
                report.removedDocuments += 1
            }
            return report
        }
    }
}
