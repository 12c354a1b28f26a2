"""The paper's claims as data (claims.yaml), and the check of each on published rows."""
