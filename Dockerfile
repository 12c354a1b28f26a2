# The library and the benchmark, with the package versions of constraints.txt.
#
#   docker build -t reliefe-bench .
#   docker run --rm -v "$PWD/results:/reliefe-bench/results" reliefe-bench
#   docker run --rm -v "$PWD:/tables" reliefe-bench python run.py rank /tables/my.csv --target class --out /tables/ranked
FROM python:3.11-slim

WORKDIR /reliefe-bench

# What decides the packages, and the project itself.
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY reliefe reliefe
COPY experiments experiments
COPY conf conf
COPY run.py report.py ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -e ".[study]"

# As the README's first command: three rankers on the bundled images of digits.
CMD ["python", "run.py", "dataset=digits", "ranker=reliefe_absmean_adaptive,relieff,mutual_information", "protocol=quick"]
