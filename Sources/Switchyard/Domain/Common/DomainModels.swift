extension DocumentSnapshot {
    /// The model of a domain client in this document.
    ///
    /// - Throws: `.codingFailed` if `make` finds what it needs missing.
    func model<Model>(_ make: (DocumentSnapshot) -> Model?) throws(StorageError) -> Model {
        guard let model = make(self) else {
            throw StorageError(
                .codingFailed,
                "“\(path)” is not a \(Model.self): a field that it needs is missing or has an unexpected type.")
        }
        return model
    }
}

extension Duration {
    /// As documents store intervals.
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
