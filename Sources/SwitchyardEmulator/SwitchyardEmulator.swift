// The module is laid out in the architecture notes of its documentation catalogue.
